#include <nlohmann/json.hpp>

#include "experiments/config/study/study.h"
#include "experiments/run/load_run.h"
#include "experiments/run/update_cost.h"
#include "experiments/run/update_time.h"
#include "models/transformer_flops.h"
#include "tests/experiments/program.h"
#include "training/storage/finite_json.h"

namespace ablate::run {
namespace {

/// A run of the tiny study within a budget.
class RunLengthTest : public ProgramTest {
 protected:
  nlohmann::json result_of(const std::string& output, const std::string& budget,
                           int seed = 1) const {
    EXPECT_TRUE(ends(shell(command(output, "--seeds " + std::to_string(seed) +
                                               " --set 'training.budget=" + budget + "'")),
                     0));
    const auto folder = run(output).parent_path() / ("seed-" + std::to_string(seed));
    return read_json(folder / "result.json");
  }
};

TEST_F(RunLengthTest, ATokenBudgetIsMetWithinABatchAndAlikeForEverySeed) {
  const auto first = result_of("out", "{kind: tokens, tokens: 3000}");
  const auto second = result_of("out", "{kind: tokens, tokens: 3000}", 2);
  EXPECT_NEAR(first.at("tokens").get<double>(), 3000, 160);  // of at most 80 a batch
  EXPECT_EQ(first.at("steps"), second.at("steps"));
}

/// Studies of files of tokens, whose batches have 4 rows of 32 tokens to predict.
class ScheduledLengthTest : public ProgramTest {
 protected:
  ScheduledLengthTest() {
    for (const auto* name : {"train", "test"}) {
      std::string ids;
      for (int i = 0; i < 20'000; ++i) ids += {static_cast<char>(i * i % 37), '\0'};
      write_file(folder_ / name, ids);
    }
  }
  /// What a run with these schedules spent, in the unit of its budget, and what an update spends at
  /// most.
  std::pair<double, double> spent(const std::string& unit, double budget,
                                  const std::string& schedules) {
    write_file(folder_ / "s.yaml",
               "name: s\nseeds: [1]\nbase:\n"
               "  data: {task: tokens, train: train, validation: test, vocabulary: 40, block: 32, "
               "evaluated_tokens: 64}\n"
               "  model: {family: decoder_only, d_model: 8, layers: 1, attention: {heads: 1}, "
               "feed_forward: {d_hidden: 8}, output: {kind: tokens, ahead: 2}}\n"
               "  training: {tokens_per_batch: 140, max_length: 64, accumulate: 4, threads: 1, "
               "log_every: 1, budget: {kind: " +
                   unit + ", " + unit + ": " + std::to_string(static_cast<int64_t>(budget)) + "}" +
                   schedules + "}\n");
    std::filesystem::remove_all(folder_ / "out");
    EXPECT_TRUE(ends(program("run", folder_ / "s.yaml", "--output", folder_ / "out", "2>&1"), 0));
    double before = 0, most = 0;
    for (const auto& line :
         json_lines(read_file(folder_ / "out/s/tokens/base/seed-1/metrics.jsonl"))) {
      const double now = line.at(unit);
      most = std::max(most, now - before);
      before = now;
    }
    return {before, most};
  }
};

TEST_F(ScheduledLengthTest, TwoSchedulesTogetherMeetABudgetWithinAnUpdate) {
  const std::string batches = ", batch_warmup: 1",
                    rows = ", length_warmup: {share: 0.7, shortest: 3}",
                    more = ", ahead: {curriculum: forward}",
                    fewer = ", ahead: {curriculum: reverse}",
                    twice = ", optimizer: {kind: sophia, curvature_interval: 3}";
  for (const auto& schedules : {std::string(), batches, rows, more, batches + rows, batches + more,
                                batches + fewer, rows + more, rows + fewer, batches + rows + fewer,
                                twice, batches + twice, rows + fewer + twice})
    for (const auto& [unit, budget] :
         {std::pair{"tokens", 20'000.0}, {"flops", schedules.ends_with(twice) ? 16e7 : 8e7}}) {
      const auto [spent, update] = this->spent(unit, budget, schedules);
      EXPECT_NEAR(spent, budget, update) << unit << schedules;
      EXPECT_GT(spent, 5 * update) << "so that it says something";
    }
}

/// An update's cost and its model.
struct Updated {
  UpdateCost cost;
  models::Transformer model;

  /// Three forward passes over one batch.
  double passes(const models::PassExtent& extent) const {
    return 3 * models::PassFlops(*model).forward(extent);
  }
};

class UpdateCostTest : public ProgramTest {
 protected:
  /// With these lines in its study, on batches of 40 tokens.
  auto experiment_of(const std::string& lines) const {
    const auto file = folder_ / "study.yaml";
    write_file(file,
               "name: s\nseeds: [1]\nbase:\n  training: {steps: 1, tokens_per_batch: 40, "
               "max_length: 32}\n" +
                   lines);
    return config::read_study(file.string()).runs.front().experiment;
  }
  Updated updated(const std::string& lines) const {
    const auto experiment = experiment_of(lines);
    const auto data = read_run_data(experiment, folder_, {});
    const auto model = make_model(experiment, data.tokenizers);
    return {run_length(experiment, data, *model, 0).cost, model};
  }
};

// Four rows of a block and what is read before it, of which masking predicts a share.
TEST_F(UpdateCostTest, IsOfAllPositionsOfMaskedText) {
  std::string text;
  for (int i = 0; i < 900; ++i) text += i % 9 == 8 ? "w\n" : "v ";  // with the line's end: ten ids
  write_file(folder_ / "text", text);
  const auto read = [&](const std::string& family, const std::string& tokenizer) {
    return updated(
        "  data: {task: language, train: text, block: 9, held_out: 0.1}\n"
        "  tokenizer: " +
        tokenizer +
        "\n"
        "  model: {family: " +
        family + ", d_model: 8, layers: 1, attention: {heads: 2}}\n");
  };
  const auto causal = read("decoder_only", "{kind: word}");
  const auto masked = read("encoder_only", "{kind: word, mask: true}");
  EXPECT_NEAR(causal.cost.flops, causal.passes({4, 0, 10}), 0.03 * causal.cost.flops);
  EXPECT_NEAR(masked.cost.flops, masked.passes({4, 10, 10}), 0.03 * masked.cost.flops);
  EXPECT_LT(masked.cost.tokens, 0.3 * causal.cost.tokens);
}

TEST_F(UpdateCostTest, IsOfAllPositionsInFrontOfALabel) {
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += i % 2 == 0 ? "v v\tyes\n" : "v w\tno\n";
  for (const auto* name : {"train", "validation", "test"}) write_file(folder_ / name, lines);
  const auto labelled = updated(
      "  data: {task: labelled, train: train, validation: validation, test: test}\n"
      "  tokenizer: {kind: word}\n"
      "  model: {family: encoder_only, output: {kind: label}, tying: none, d_model: 8, layers: 1, "
      "attention: {heads: 2}}\n");
  EXPECT_DOUBLE_EQ(labelled.cost.flops, labelled.passes({10, 4, 1}));
  EXPECT_DOUBLE_EQ(labelled.cost.tokens, 10);
}

const std::string kCopying =
    "  data: {task: copy, symbols: 6, train_length: [4, 4], test_length: [4], "
    "examples: {train: 40, validation: 4, test: 4}}\n  tokenizer: {kind: word}\n"
    "  model: {d_model: 8, layers: 1, attention: {heads: 2}, family: ";

TEST_F(UpdateCostTest, IsOfAPromptToo) {
  const auto copied = [&](const std::string& family) { return updated(kCopying + family + "}\n"); };
  const auto pair = copied("encoder_decoder"), one = copied("decoder_only");
  EXPECT_DOUBLE_EQ(pair.cost.flops, pair.passes({8, 5, 5}));
  EXPECT_DOUBLE_EQ(one.cost.flops, one.passes({4, 0, 10}));
  EXPECT_DOUBLE_EQ(pair.cost.tokens, 2 * one.cost.tokens);
}

/// Draws the weights, since the optimizer makes no step if they are not finite.
TEST_F(UpdateCostTest, TimesWholeUpdates) {
  const auto experiment = experiment_of(kCopying + "encoder_decoder}\n");
  const auto data = read_run_data(experiment, folder_, {});
  const auto model = make_model(experiment, data.tokenizers);
  EXPECT_GT(seconds_per_update(experiment, data, training::Precision::fp32, model), 0);
  for (const auto& parameter : model->parameters())
    EXPECT_TRUE(parameter.isfinite().all().item<bool>());
}

TEST(RunLength, IsTheBudgetDividedByTheCostOfAnUpdateAndAtLeastOne) {
  const UpdateCost cost{.tokens = 50, .flops = 2e6};
  const auto updates = [&](const training::BudgetOptions& budget) {
    training::TrainingOptions options;
    options.steps = 7;
    options.budget = budget;
    return updates_within(options, cost, 0.25);
  };
  EXPECT_EQ(updates(training::StepBudget{}), 7);
  EXPECT_EQ(updates(training::TokenBudget{.tokens = 999}), 19);
  EXPECT_EQ(updates(training::FlopBudget{.flops = 9e6}), 4);
  EXPECT_EQ(updates(training::TimeBudget{.seconds = 10}), 40);
  EXPECT_EQ(updates(training::TimeBudget{.seconds = 0.01}), 1);
}

TEST_F(RunLengthTest, ATimeBudgetFixesTheNumberOfUpdatesOnce) {
  const auto first = result_of("out", "{kind: seconds, seconds: 0.5}");
  EXPECT_GE(first.at("steps"), 1);
  std::filesystem::remove(run("out") / "result.json");
  std::filesystem::remove_all(run("out") / "checkpoints");
  auto environment = read_json(run("out") / "environment.json");
  EXPECT_EQ(environment.at("steps"), first.at("steps"));
  environment["steps"] = 33;
  write_file(run("out") / "environment.json", training::sealed_json(environment));
  EXPECT_EQ(result_of("out", "{kind: seconds, seconds: 0.5}").at("steps"), 33);
}

}  // namespace
}  // namespace ablate::run
