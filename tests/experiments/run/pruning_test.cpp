#include "experiments/run/pruning.h"

#include <nlohmann/json.hpp>

#include "experiments/errors.h"
#include "experiments/records/result.h"
#include "tests/experiments/program.h"
#include "training/weights.h"

namespace ablate::run {
namespace {

class PruningTest : public ProgramTest {
 protected:
  /// The folder of a small trained run whose model has this in addition.
  std::filesystem::path trained(const std::string& model = "") {
    const auto done = shell(command("out", "--set model.layers=2 " + model));
    EXPECT_EQ(done.code, 0) << done.output;
    return run("out");
  }
  static data::Corpus corpus_of(const LoadedRun& run) {
    return data::load(run.experiment.data, ".", 1);
  }
};

TEST_F(PruningTest, GoesFromTheWholeModelToNoHeadInEqualSteps) {
  auto loaded = load_run(trained(), "");
  const auto before = training::weights_of(*loaded.model)
                          .at("encoder.layers.0.attention.out.weight")
                          .detach()
                          .clone();
  const auto pruning = prune(loaded, corpus_of(loaded), {.parts = 4, .each = true});
  ASSERT_EQ(pruning.heads.size(), 12U);
  for (size_t i = 1; i < pruning.heads.size(); ++i)
    EXPECT_LE(pruning.heads[i - 1].importance, pruning.heads[i].importance);
  std::vector<int64_t> removed;
  for (const auto& point : pruning.points) removed.push_back(point.removed);
  EXPECT_EQ(removed, (std::vector<int64_t>{0, 3, 6, 9, 12}));
  const auto result = records::read_result(run("out")).value();
  EXPECT_NEAR(std::exp(pruning.points.front().nll), result.validation_perplexity, 1e-4);
  EXPECT_NEAR(pruning.points.front().token_accuracy, result.validation_token_accuracy, 1e-9);
  EXPECT_TRUE(torch::equal(
      training::weights_of(*loaded.model).at("encoder.layers.0.attention.out.weight"), before));

  ASSERT_EQ(pruning.alone.size(), 12U);
  for (const auto& point : pruning.alone) EXPECT_EQ(point.removed, 1);
  remove_heads(loaded, pruning.heads, 12);
  for (const auto& [name, tensor] : training::weights_of(*loaded.model))
    if (name.ends_with("attention.out.weight")) {
      EXPECT_EQ(tensor.abs().max().item<float>(), 0) << name;
    }
}

TEST_F(PruningTest, InMorePartsThanHeadsRemovesEachByItself) {
  auto loaded = load_run(trained(), "");
  const auto pruning = prune(loaded, corpus_of(loaded), {.parts = 100});
  ASSERT_EQ(pruning.points.size(), 13U);
  for (size_t i = 0; i < pruning.points.size(); ++i)
    EXPECT_EQ(pruning.points[i].removed, static_cast<int64_t>(i));
}

TEST_F(PruningTest, AModelWithoutHeadsIsRefused) {
  const auto folder = trained(
      "--set model.family=decoder_only --set model.attention.kind=lstm "
      "--set model.position.kind=none");
  const auto refused = shell(kProgram + " prune " + folder.string() + " 2>&1");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.output.find("this model has no attention heads to leave out"),
            std::string::npos)
      << refused.output;
}

TEST_F(PruningTest, SkipsWhatHasNoHeadsWithASentence) {
  const auto folder = trained(
      "--set model.encoder.attention.kind=lstm --set model.cross_attention.kind=multi_head --set "
      "model.cross_attention.heads=2");
  const auto done = shell(kProgram + " prune " + folder.string() + " 2>&1");
  EXPECT_EQ(done.code, 0) << done.output;
  EXPECT_NE(done.output.find("the encoder's own attention is lstm, which has no heads: skipped\n"),
            std::string::npos)
      << done.output;
  EXPECT_EQ(done.output.find("encoder.layers.0.attention.0"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("decoder.layers.0.attention.0"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("decoder.layers.1.cross_attention.1"), std::string::npos);
}

TEST_F(PruningTest, TheResultIsARunAsAnyOther) {
  const auto folder = trained();
  const auto to = folder_ / "pruned";
  const auto verb = kProgram + " prune " + folder.string();
  const auto made = shell(verb + " --remove 5 --json --to " + to.string() + " 2>/dev/null");
  ASSERT_EQ(made.code, 0) << made.output;
  const auto printed = nlohmann::json::parse(made.output);
  const auto result = records::read_result(to).value();
  const auto& sixth = printed.at("heads").at(4).at("head").get_ref<const std::string&>();
  EXPECT_TRUE(result.weights.starts_with("last without ")) << result.weights;
  EXPECT_TRUE(result.weights.ends_with(", " + sixth)) << result.weights;
  EXPECT_EQ(result.earlier_steps, 60);
  const auto evaluated = shell(kProgram + " eval " + to.string() + " --json");
  EXPECT_EQ(scores_in(evaluated.output), scores_in(read_file(to / "result.json")));
  EXPECT_NE(scores_in(evaluated.output), scores_in(read_file(folder / "result.json")));
  EXPECT_NE(read_file(to / "pruning.md").find("| 12 of 12 | 1.000 |"), std::string::npos);
  const auto environment = nlohmann::json::parse(read_file(to / "environment.json"));
  EXPECT_EQ(environment.at("pruned_heads").size(), 5U);
  EXPECT_EQ(environment.at("pruned_from"), folder.string());

  const auto said = [&](const std::string& flags) {
    const auto outcome = shell(verb + " " + flags + " 2>&1");
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    return outcome.output;
  };
  EXPECT_NE(said("--remove 1 --to " + to.string()).find("exists; choose another --to"),
            std::string::npos);
  EXPECT_NE(said("--remove 1").find("--to and --remove belong together"), std::string::npos);
  EXPECT_NE(said("--to " + (folder_ / "x").string()).find("--to and --remove belong together"),
            std::string::npos);
  EXPECT_NE(said("--remove 13 --to " + (folder_ / "x").string())
                .find("--remove must be at most 12, the heads that"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace ablate::run
