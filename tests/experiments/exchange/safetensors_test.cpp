#include "training/checkpoint/safetensors.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/experiments/exchange/export_test_case.h"
#include "tests/says.h"
#include "training/checkpoint/checkpoint.h"

namespace ablate::exchange {
namespace {

class SafetensorsTest : public ExportTest {
 protected:
  std::filesystem::path weights() const { return folder_ / "weights"; }
  std::filesystem::path imported() const { return folder_ / "imported"; }
  Outcome import(const std::string& arguments) {
    return program("import", arguments, "--to", imported(), "2>&1");
  }
  void export_weights(const std::string& of = "runs") {
    ASSERT_TRUE(
        ends(program("export", run(of), "--format safetensors --to", weights(), "2>&1"), 0));
  }
  std::string scores(const std::filesystem::path& folder) {
    return program("eval", folder, "--json").output;
  }
  /// Expects that no run is made of these tensors.
  void expect_refusal(const training::Tensors& tensors, const std::string& words) {
    write_file(weights() / "model.safetensors", training::to_safetensors(tensors));
    EXPECT_TRUE(ends(import(weights().string()), 4, words));
    EXPECT_FALSE(std::filesystem::exists(imported()));
  }
};

TEST_F(SafetensorsTest, ComeBackAsARunWithTheSameScores) {
  export_weights();
  ASSERT_TRUE(ends(import(weights().string()), 0));
  EXPECT_EQ(scores_in(scores(imported())), scores_in(scores(run("runs"))));
  EXPECT_EQ(import(weights().string()).code, 2) << "the folder exists";
}

TEST_F(SafetensorsTest, ANumberWithoutDimensionsComesBack) {
  ASSERT_TRUE(ends(
      program("run", study(), "--set model.position.kind=fire --output", folder_ / "fire", "2>&1"),
      0));
  export_weights("fire");
  ASSERT_TRUE(ends(import(weights().string()), 0));
  EXPECT_EQ(scores_in(scores(imported())), scores_in(scores(run("fire"))));
}

TEST_F(SafetensorsTest, WithWholeNumbersForRealOnesOrNumbersThatAreNotFiniteAreRefusedByName) {
  export_weights();
  auto tensors = training::read_safetensors(weights() / "model.safetensors");
  tensors.at("embedding") = tensors.at("embedding").to(torch::kLong);
  expect_refusal(tensors,
                 "'embedding' holds numbers of the type Long, and 'embedding' needs Float");
  for (const double odd : {std::nan(""), 1e300}) {  // which float cannot hold
    auto& embedding = tensors.at("embedding");
    embedding = embedding.to(torch::kDouble);
    embedding[1][2] = odd;
    expect_refusal(tensors, "the weight 'embedding' holds 1 number of ");
  }
}

TEST_F(SafetensorsTest, OfShapesThatDoNotFitAreRefusedByName) {
  export_weights();
  const auto file = weights() / "model.safetensors";
  auto tensors = training::read_safetensors(file);
  const auto embedding = tensors.at("embedding");
  tensors["cube"] = embedding.unsqueeze(0).clone();
  tensors["row"] = embedding[0].clone();
  tensors["narrow"] = embedding.narrow(1, 0, 3).clone();
  write_file(file, training::to_safetensors(tensors));
  const auto names = folder_ / "names.yaml";
  for (const std::string origin :
       {"row", "{name: embedding, transpose: true}", "{name: cube, transpose: true}",
        "{name: row, transpose: true}", "[embedding, row]", "[embedding, narrow]"}) {
    write_file(names, "embedding: " + origin + "\n");
    EXPECT_TRUE(ends(import(weights().string() + " --names " + names.string()), 4,
                     "cannot make 'embedding', whose shape in this configuration is "))
        << origin;
    EXPECT_FALSE(std::filesystem::exists(imported()));
  }
}

/// Splits packed projections, turns the feed-forward's matrices round and renames everything.
constexpr const char* kForeignWriter = R"(
import json, sys
from safetensors.torch import load_file, save_file
folder = sys.argv[1]
ours, foreign, names = load_file(folder + "/weights/model.safetensors"), {"left.over": None}, {}
for name, tensor in ours.items():
    if "qkv" in name:
        parts = tensor.chunk(3)
        for letter, part in zip("qkv", parts):
            foreign[name + "." + letter] = part.contiguous()
        names[name] = [name + "." + letter for letter in "qkv"]
    elif name.endswith("up.weight"):
        foreign["turned." + name] = tensor.t().contiguous()
        names[name] = {"name": "turned." + name, "transpose": True}
    else:
        foreign["x." + name] = tensor
        names[name] = "x." + name
foreign["left.over"] = tensor.clone()
save_file(foreign, folder + "/foreign.safetensors")
json.dump(names, open(folder + "/names.yaml", "w"))
)";

TEST_F(SafetensorsTest, OfAnotherProjectAreReadByAMapOfNames) {
  if (!python_has("safetensors, torch")) GTEST_SKIP() << "no safetensors package in .venv";
  export_weights();
  write_file(folder_ / "foreign.py", kForeignWriter);

  ASSERT_EQ(shell(kPython + " " + (folder_ / "foreign.py").string() + " " + folder_.string()).code,
            0);
  const auto arguments = (folder_ / "foreign.safetensors").string() + " --config " +
                         (weights() / "config.yaml").string() + " --tokenizers " +
                         weights().string();
  const auto names = (folder_ / "names.yaml").string();
  EXPECT_TRUE(ends(import(arguments), 4, "has no tensor '"));
  ASSERT_TRUE(
      ends(import(arguments + " --names " + names), 0, "1 tensors of the file were not asked for"));
  EXPECT_EQ(program("translate", imported(), "<", lines()).output,
            program("translate", run("runs"), "<", lines()).output);
  std::filesystem::remove_all(imported());
  write_file(folder_ / "other.yaml",
             replaced(read_file(weights() / "config.yaml"), "d_hidden: 32", "d_hidden: 48"));
  const auto shape = import((folder_ / "foreign.safetensors").string() + " --config " +
                            (folder_ / "other.yaml").string() + " --tokenizers " +
                            weights().string() + " --names " + names);
  EXPECT_TRUE(ends(shape, 4, "whose shape in this configuration is [16, 48]"));
  EXPECT_FALSE(std::filesystem::exists(imported()));
}

}  // namespace
}  // namespace ablate::exchange
