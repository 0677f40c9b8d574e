#include "experiments/run/moefication/moefication.h"

#include <nlohmann/json.hpp>

#include "experiments/errors.h"
#include "experiments/run/moefication/neuron_groups.h"
#include "tests/experiments/program.h"
#include "tests/says.h"
#include "training/storage/finite_json.h"

namespace ablate::run {
namespace {

/// The lines below `base` of a study of copying with a small model, up to the further keys of its
/// training.
std::string copying(const std::string& feed_forward) {
  return "  data: { task: copy, symbols: 12, train_length: [2, 4], test_length: [4], "
         "examples: { train: 2000, validation: 50, test: 50 } }\n"
         "  tokenizer: { kind: word }\n"
         "  model: { d_model: 32, layers: 1, dropout: 0.0, attention: { heads: 4 }, "
         "feed_forward: " +
         feed_forward + " }\n  training: { tokens_per_batch: 512, max_length: 32, threads: 1, ";
}

constexpr const char* kRelu = "{ kind: dense, d_hidden: 64 }";

class MoefyTest : public ProgramTest {
 protected:
  /// The folder of a small trained run on copying, in the place of an earlier one.
  std::filesystem::path dense(const std::string& feed_forward) {
    std::filesystem::remove_all(folder_ / "runs");
    return trained("copy", copying(feed_forward) +
                               "steps: 250, label_smoothing: 0.0, max_grad_norm: 1.0, schedule: { "
                               "kind: cosine, peak: 5.0e-3, warmup: 20 } }\n");
  }
  Moefied made(const std::filesystem::path& run, const MoefyOptions& options) {
    auto loaded = load_run(run, "");
    return moefy(loaded, data::load(loaded.experiment.data, ".", 1), options);
  }
};

TEST_F(MoefyTest, AllExpertsAreTheDenseModelAndMoreCaptureMore) {
  const auto run = dense(kRelu);
  for (const auto grouping : {training::Grouping::random, training::Grouping::clusters,
                              training::Grouping::coactivation}) {
    const auto moefied = made(run, {.experts = 8,
                                    .active = 2,
                                    .grouping = grouping,
                                    .router = models::OracleRouter{},
                                    .positions = 2000});
    ASSERT_EQ(moefied.points.size(), 8U);
    EXPECT_NEAR(moefied.points.back().perplexity, moefied.dense_perplexity, 1e-4);
    EXPECT_NEAR(moefied.points.back().captured, 1.0, 1e-5);
    for (size_t i = 1; i < moefied.points.size(); ++i)
      EXPECT_GT(moefied.points[i].captured, moefied.points[i - 1].captured);
  }
}

TEST_F(MoefyTest, TheOracleCapturesMostAndATrainedNetworkMoreThanChance) {
  const auto run = dense(kRelu);
  const auto captured = [&](const models::RouterOptions& router) {
    return made(run, {.experts = 8, .active = 2, .router = router, .positions = 2000})
        .points.at(1)
        .captured;
  };
  const double oracle = captured(models::OracleRouter{});
  const double network = captured(models::NetworkRouter{});
  EXPECT_GE(oracle, network);
  EXPECT_GE(oracle, captured(models::SimilarityRouter{}));
  EXPECT_GT(network, 0.25 + 0.05);
}

TEST_F(MoefyTest, TheResultIsARunAsAnyOther) {
  const auto run = dense(kRelu);
  const auto to = folder_ / "moefied";
  ASSERT_TRUE(
      ends(program("moefy", run, "--to", to, "--experts 8 --active 8 --positions 2000 2>&1"), 0,
           "| 8 of 8 | 1.000 | 1.000 |"));
  EXPECT_EQ(shell("echo 'a b c' | " + kProgram + " translate " + to.string()).output, "a b c\n");
  const auto evaluated = program("eval", to, "--json");
  const auto dense = read_json(run / "result.json");
  EXPECT_NEAR(nlohmann::json::parse(evaluated.output)["tests"][0]["perplexity"].get<double>(),
              dense["tests"][0]["perplexity"].get<double>(), 1e-3);
  EXPECT_EQ(scores_in(read_file(to / "result.json")), scores_in(evaluated.output));
  EXPECT_EQ(read_json(to / "result.json")["validation_unknown_targets"], 0);
  EXPECT_TRUE(says(read_file(to / "moefication.html"), "<svg class=\"chart\""));
  EXPECT_TRUE(ends(program("moefy", run, "--to", to, "2>&1"), 2,
                   "exists; choose another --to or remove it"));
}

TEST_F(MoefyTest, TheResultSaysWhichProgramMadeIt) {
  const auto run = dense(kRelu);
  auto dense = read_json(run / "environment.json");
  auto& start = dense.at("starts").at(0);
  const auto sha256 = start.at("program_sha256"), host = start.at("host");
  start["program_sha256"] = "another build";
  start["host"] = "elsewhere";
  write_file(run / "environment.json", training::sealed_json(dense));
  const auto to = folder_ / "moefied";
  ASSERT_EQ(program("moefy", run, "--to", to, "--positions 200 2>&1").code, 0);
  const auto made = read_json(to / "environment.json");
  EXPECT_EQ(made.at("starts").at(0).at("program_sha256"), sha256);
  EXPECT_EQ(made.at("starts").at(0).at("host"), host);
  EXPECT_EQ(made.at("data_sha256"), dense.at("data_sha256"));
}

TEST_F(MoefyTest, AStudySplitsOneArmIntoAnotherAndTrainsItFurther) {
  const auto file = folder_ / "split.yaml";
  const auto study = [&](const std::string& start) {
    write_file(file,
               "name: split\nseeds: [1, 2]\nbase:\n" + copying(kRelu) +
                   "steps: 40 }\n"
                   "arms:\n  dense: {}\n"
                   "  all: { training.init_from: { arm: dense, split: clusters, positions: 500 }, "
                   "training.steps: 0, model.feed_forward: " +
                   start +
                   " }\n"
                   "  more: { training.init_from: { arm: all }, training.steps: 3, "
                   "model.feed_forward: " +
                   start + " }\n");
    return program("run", file, "--output", folder_, "2>&1");
  };
  ASSERT_TRUE(ends(
      study("{ kind: moe, experts: 8, active: 8, d_hidden: 8, router: { kind: network } }"), 0));
  const auto perplexity = [&](const std::string& arm, int seed) {
    const auto text = read_file(folder_ / ("split/copy/" + arm + "/seed-" + std::to_string(seed)) /
                                "result.json");
    return nlohmann::json::parse(text)["validation_perplexity"].get<double>();
  };
  for (const int seed : {1, 2}) {
    EXPECT_NEAR(perplexity("all", seed), perplexity("dense", seed), 1e-3);
    EXPECT_NE(perplexity("more", seed), perplexity("all", seed));
    EXPECT_NEAR(perplexity("more", seed), perplexity("all", seed), 1.0);
  }
  EXPECT_NE(perplexity("dense", 1), perplexity("dense", 2));
  std::filesystem::remove_all(folder_ / "split");
  EXPECT_TRUE(ends(study("{ kind: moe, experts: 8, active: 8, d_hidden: 8, router: { kind: oracle "
                         "} }, model.bias: false"),
                   2, "bias does not fit: except for its mixtures"));
  EXPECT_TRUE(ends(study("{ kind: dense, d_hidden: 64 }"), 2,
                   "must be a mixture of relu experts with an oracle"));
}

TEST_F(MoefyTest, WithoutBiasesOfTheirOwnFeedForwardsAreSplitInAModelWithBiases) {
  const auto moefied = made(dense("{ kind: dense, d_hidden: 64, bias: false }"),
                            {.experts = 2, .active = 2, .positions = 2000});
  EXPECT_NEAR(moefied.points.back().perplexity, moefied.dense_perplexity, 1e-4);
}

TEST_F(MoefyTest, OtherActivationsAndSizesAreRefused) {
  const auto message = [&](const std::filesystem::path& run, int64_t experts) {
    return refusal_of<UsageError>(
        [&] { made(run, {.experts = experts, .active = 1, .positions = 2000}); }, "no error");
  };
  for (const auto* model : {", encoder_layers: 2, share: { layers: 1 }",
                            ", family: decoder_only, output: { ahead: 1 }"})
    EXPECT_TRUE(says(message(dense(kRelu + std::string(model)), 8), "cannot be split")) << model;
  EXPECT_TRUE(says(message(dense("{ kind: dense, d_hidden: 64, bias: true }, bias: false"), 8),
                   "experts have biases only with model.bias"));
  EXPECT_EQ(message(dense(kRelu), 5),
            "the experts, 5, must divide the 64 hidden neurons of the encoder");
  EXPECT_EQ(message(dense("{ kind: dense, d_hidden: 64, activation: gelu }"), 8),
            "encoder: only a dense feed-forward with relu can be split: other activations leave "
            "no neuron at zero");
  EXPECT_EQ(message(dense("{ kind: dense, d_hidden: 64 }, canon: { places: [d] }"), 8),
            "encoder: a feed-forward with a short convolution inside (model.canon.places: d) "
            "cannot be split");
}

TEST(CapturedMass, IsTheShareOfTheChosenExperts) {
  const auto mass = torch::tensor({{1.0, 2.0, 7.0}, {4.0, 6.0, 0.0}});
  const auto scores = torch::tensor({{0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}});
  EXPECT_NEAR(captured_mass(scores, mass, 1), 6.0 / 20, 1e-6);
  EXPECT_NEAR(captured_mass(mass, mass, 2), 19.0 / 20, 1e-6);
}

}  // namespace
}  // namespace ablate::run
