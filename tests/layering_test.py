"""Tests of layering.py: each rule finds the smallest tree that breaks it, and is silent on the smallest that does not."""

import unittest

import layering


def hidden(name):
    return f"namespace ablate::models {{\nnamespace {{\n\nint {name}(int x) {{ return x; }}\n\n}}  // namespace\n\n}}  // namespace ablate::models\n"


class Layering(unittest.TestCase):
    def assert_found(self, tree, wanted):
        found = "\n".join(layering.problems_of(tree))
        self.assertIn(wanted, found)

    def assert_clean(self, tree):
        self.assertEqual("\n".join(layering.problems_of(tree)), "")

    def test_a_folder_may_not_include_one_above_it(self):
        tree = {"data/a.h": '#include "training/b.h"\n', "training/b.h": ""}
        self.assert_found(tree, "data/a.h: data/ must not include training/b.h")
        self.assert_clean({"training/a.h": '#include "data/b.h"\n', "data/b.h": ""})

    def test_models_know_neither_text_nor_examples(self):
        tree = {"models/a.h": '#include "tokenizer/b.h"\n', "tokenizer/b.h": ""}
        self.assert_found(tree, "models/a.h: models/ must not include tokenizer/b.h")

    def test_a_sub_folder_and_a_file_beside_it_make_a_cycle(self):
        tree = {"models/a.h": '#include "models/deep/b.h"\n', "models/deep/b.h": '#include "models/a.h"\n'}
        self.assert_found(tree, "models/: a cycle of a.h, deep/")
        self.assert_clean({  # a folder may hold what is behind an interface
            "models/a.h": "",
            "models/a.cpp": '#include "models/deep/b.h"\n',
            "models/deep/b.h": '#include "models/a.h"\n',
        })

    def test_a_cycle_two_folders_down_and_by_way_of_a_third_is_found(self):
        tree = {
            "models/x/p/a.h": '#include "models/x/q/b.h"\n',
            "models/x/q/b.h": '#include "models/x/r/c.h"\n',
            "models/x/r/c.h": '#include "models/x/p/a.h"\n',
        }
        self.assert_found(tree, "models/x/: a cycle of p/, q/, r/")

    def test_a_sub_folder_may_rest_on_files_beside_it_and_carry_others(self):
        self.assert_clean({
            "models/low.h": "",
            "models/deep/b.h": '#include "models/low.h"\n',
            "models/high.h": '#include "models/deep/b.h"\n',
        })

    def test_torch_may_not_reach_an_option_header_by_way_of_another(self):
        tree = {"models/a_options.h": '#include "models/b.h"\n', "models/b.h": "#include <torch/types.h>\n"}
        self.assert_found(tree, "models/a_options.h: must not include LibTorch")
        self.assert_found({"data/a.cpp": "#include <ATen/ATen.h>\n"}, "data/a.cpp: must not include LibTorch")
        self.assert_clean({"models/a.h": "#include <torch/types.h>\n"})

    def test_only_the_seam_includes_what_is_behind_it(self):
        tree = {"models/a.cpp": '#include "models/kernel/k.h"\n', "models/kernel/k.h": "", "models/ops/o.cpp": '#include "models/kernel/k.h"\n'}
        self.assert_found(tree, "models/a.cpp: only models/ops/ may include models/kernel/k.h")
        del tree["models/a.cpp"]
        self.assert_clean(tree)

    def test_only_the_seam_asks_for_a_back_end(self):
        for asks in ("x.is_cpu()", "x.is_cuda()", "x.device().type() == torch::kCPU", "at::GradMode::is_enabled()", "x.requires_grad()",
                     "torch::jit::tracer::isTracing()", "ops::infers_on_cpu(x)"):
            self.assert_found({"models/a.cpp": f"if ({asks}) {{}}\n"}, "models/a.cpp: only models/ops/ may ask for ")
            self.assert_clean({"models/ops/a.cpp": f"if ({asks}) {{}}\n"})
            self.assert_clean({"training/a.cpp": f"if ({asks}) {{}}\n"})
        self.assert_clean({"models/a.cpp": "torch::NoGradGuard no_grad;\nx.to(y.device());\nx.set_requires_grad(false);\n"})

    def test_a_kernel_reads_memory_as_what_it_was_written_as(self):
        for cast in ("reinterpret_cast<const int32_t*>(x)", "reinterpret_cast<uint32_t*>(x)", "reinterpret_cast<float&>(x)", "(const int32_t*)x", "(float *)&x",
                     "static_cast<const float*>(bytes)"):
            self.assert_found({"models/kernel/a.cpp": f"const auto* from = {cast};\n"}, "models/kernel/a.cpp: a pointer is cast to one to ")
            self.assert_clean({"training/a.cpp": f"const auto* from = {cast};\n"})
        self.assert_clean({
            "models/kernel/a.h": "using wide = float __attribute__((vector_size(64), may_alias));\nvoid f(const float*);\n",
            "models/kernel/a.cpp": "*reinterpret_cast<const wide*>(x);\nreinterpret_cast<const int8_t*>(this + 1);\n(__m512bh)y;\nstatic_cast<float>(x);  // reinterpret_cast<float*>\n",
        })
        self.assert_found({"models/kernel/a.h": "using wide = float __attribute__((vector_size(64)));\nreinterpret_cast<wide*>(x);\n"}, "to wide")

    def test_a_room_includes_those_that_are_named_for_it(self):
        def file(room, includes=""):
            return f"{includes}namespace ablate::{room} {{\n"

        report = {"experiments/report/a.h": file("report")}
        for room in ("analysis", "schedule", "run"):
            path = f"experiments/{room}/b.cpp"
            self.assert_found({**report, path: file(room, '#include "experiments/report/a.h"\n')},
                              f"{path}: experiments/{room}/ must not include experiments/report/a.h")
        self.assert_clean({**report, "experiments/commands/b.cpp": file("commands", '#include "experiments/report/a.h"\n')})
        self.assert_found({**report, "experiments/config/b.cpp": file("config", '#include "experiments/report/a.h"\n')}, "must not include")

    def test_a_file_is_in_the_namespace_of_its_room(self):
        tree = {"experiments/analysis/statistics/a.h": "namespace ablate::analysis {\n"}
        self.assert_found(tree, "a.h: what stands in experiments/analysis/statistics/ belongs to namespace ablate::statistics")
        self.assert_clean({"experiments/analysis/statistics/a.h": "namespace ablate::statistics {\n"})

    def test_torch_may_not_reach_a_room_without_it(self):
        tree = {"experiments/schedule/a.cpp": "#include <torch/types.h>\nnamespace ablate::schedule {\n"}
        self.assert_found(tree, "experiments/schedule/a.cpp: must not include LibTorch")
        self.assert_clean({"experiments/run/a.cpp": "#include <torch/types.h>\nnamespace ablate::run {\n"})

    def test_only_the_records_spell_the_names_of_a_runs_files(self):
        tree = {"experiments/records/folders.h": 'namespace ablate::records {\npath / "result.json"; format("{}/seed-{}", arm, seed); path / ".lock"'}
        for literal in ("result.json", "seed-{}"):
            self.assert_found({**tree, "experiments/a.cpp": f'folder / "{literal}"'}, f'experiments/a.cpp: only experiments/records/folders may spell "{literal}"')
        for allowed in ('"writes result.json there"', '// "result.json"', '#include "result.json"', '"json"'):
            self.assert_clean({**tree, "training/a.cpp": allowed})

    def test_an_anonymous_name_stands_once_in_a_library(self):
        tree = {"models/a.cpp": hidden("cut"), "models/b.cpp": hidden("cut")}
        self.assert_found(tree, "models/: 'cut' is an anonymous name of models/a.cpp, models/b.cpp")
        self.assert_clean({"models/a.cpp": hidden("cut"), "training/b.cpp": hidden("cut")})
        self.assert_clean({"models/a.cpp": hidden("cut") + hidden("cut")})

    def test_hidden_names_are_functions_types_and_values(self):
        text = (
            "namespace n {\nnamespace {\n\nconstexpr int kOne = 1, kTwo = 2;\nstruct Row {\n  int inner(int x);\n};\n"
            "template <class T>\nvoid fill(T& x) {\n  call(x);\n}\n[[noreturn]] void refuse(\n    int x) {}\n"
            "using Wide = long;\nusing std::move;\nclass Later;\nstd::vector<int> rows_of(int x) {\n  return {x};\n}\n"
            "}  // namespace\n\nint shown(int x) { return x; }\nstatic int kept(int x) { return x; }\n\n}  // namespace n\n"
        )
        self.assertEqual({name for _, name in layering.hidden_names(text)}, {"kOne", "Row", "fill", "refuse", "Wide", "rows_of", "kept"})


if __name__ == "__main__":
    unittest.main()
