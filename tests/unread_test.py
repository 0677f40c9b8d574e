"""Tests of unread.py: what nothing reads is found in the smallest tree that has it, and what is read is not."""

import unittest

import unread

OPTIONS = """struct Options {
  int64_t width = 0;

  static void fields(auto& o, auto&& visit) {
    visit("width", o.width, "how wide");
  }
  static void rules(const Options& o, auto&& require) {
    require(o.width > 0, "width", "must be positive");
  }
};
"""

VERB = """struct Request {
  std::string name;
  bool json = false;
};

void show(const Request& request) {
  std::cout << request.name;
}

void add_shared(CLI::App& verb, Request& request) {
  verb.add_flag("--json", request.json, "As JSON");
}

void add_show(CLI::App& app) {
  auto request = std::make_shared<Request>();
  auto* verb = app.add_subcommand("show", "Show it");
  verb->add_option("name", request->name, "What");
  add_shared(*verb, *request);
  verb->callback([request] { show(*request); });
}
"""


def found(tree, package=None):
    return list(unread.problems(tree, package or {}))


class Unread(unittest.TestCase):
    def test_a_key_is_read_where_it_is_used_and_not_where_it_is_offered_checked_or_set(self):
        key = ["Options: nothing reads the key width"]
        self.assertEqual(found({"models/options.h": OPTIONS}), key)
        reader = '#include "models/options.h"\nint64_t area(const Options& options) {\n  %s\n}\n'
        tree = {"models/options.h": OPTIONS, "models/area.cpp": reader % "return 2 * options.width;"}
        self.assertEqual(found(tree), [])
        self.assertEqual(found({**tree, "models/area.cpp": reader % "Options other{.width = 3}; return 0;"}), key)
        self.assertEqual(found({**tree, "models/area.cpp": reader % 'return f("options.width");'}), key)
        self.assertEqual(found({**tree, "models/area.cpp": reader % "const auto& [width] = options; return width;"}), [])

    def test_a_key_that_is_declared_in_a_row_is_not_read_there(self):
        for row in ("double depth = 0.5, width = 0;", "double width = 0, depth = 0.5;"):
            self.assertEqual(len(found({"models/options.h": OPTIONS.replace("int64_t width = 0;", row)})), 1)

    def test_a_file_that_does_not_include_the_header_reads_no_key_of_it(self):
        tree = {"models/options.h": OPTIONS, "models/other.cpp": "int64_t f(const Other& other) {\n  return other.width;\n}\n"}
        self.assertEqual(len(found(tree)), 1)

    def test_keys_that_structs_share_are_keys_and_their_rules_read_none(self):
        shared = "void width_fields(auto& o, auto& visit) {\n  visit(\"width\", o.width, \"how wide\");\n}\n"
        rule = "void width_rule(const auto& o, auto& require) {\n  require(o.width > 0, \"width\", \"must be above 0\");\n}\n"
        self.assertEqual(found({"models/options.h": shared + rule}), ["options that share keys: nothing reads the key width"])
        self.assertEqual(found({"models/options.h": shared + rule + "int64_t f(const auto& o) {\n  return o.width;\n}\n"}), [])

    def test_a_key_of_the_manual_that_no_struct_offers_is_found(self):
        page = "| `width` | integer | `0` | how wide |\n| `depth` | integer | `0` | how deep |\n\n## Metrics\n| `bleu` | higher |\n"
        self.assertIn("ablate config docs: no struct offers the key depth", list(unread.problems({"models/options.h": OPTIONS}, {}, page)))

    def test_a_flag_is_read_by_what_the_callback_calls(self):
        verb = "experiments/commands/show.cpp"
        self.assertEqual(found({verb: VERB}), [f"{verb} add_show verb: nothing reads --json"])
        self.assertEqual(found({verb: VERB.replace("<< request.name", "<< request.name << request.json")}), [])
        elsewhere = VERB.replace("void add_shared", "bool other(const Request& request) {\n  return request.json;\n}\n\nvoid add_shared")
        self.assertEqual(len(found({verb: elsewhere})), 1)

    def test_a_mode_names_flags_that_there_are(self):
        verb = "experiments/commands/show.cpp"
        text = VERB.replace("<< request.name", "<< request.name << request.json") + 'check_mode(*verb, {"--list", {"--json", "name", "--jsno"}});\n'
        self.assertEqual(found({verb: text}), [f"{verb}: a mode names --jsno, which no verb there has"])

    def test_a_keyword_is_used_in_its_function(self):
        file = "python/ablate_lab/a.py"
        self.assertEqual(found({}, {file: "def f(a, *, b=1, **more):\n    return a, more\n"}), [f"{file} f: nothing uses b"])
        self.assertEqual(found({}, {file: "class C:\n    def f(self, a):\n        return a\n"}), [])


if __name__ == "__main__":
    unittest.main()
