#include <cmath>

#include "tests/training/trainer_test_case.h"
#include "training/checkpoint_selection.h"
#include "training/likelihood.h"

namespace ablate::training {
namespace {

TEST_F(TrainerTest, AveragedWeightsAreTheMeanOfTheLastCheckpoints) {
  auto averaging = input();
  averaging.options.average = 3;
  train(averaging, tiny());
  const auto chosen = select_weights(checkpoints_, "", averaging.options);
  EXPECT_EQ(chosen.name, "average of 3 checkpoints (steps 4 to 12)");
  torch::Tensor sum;
  for (const auto& found : list_checkpoints(checkpoints_)) {
    const auto weight = load_checkpoint(found.path).model.at("embedding");
    sum = sum.defined() ? sum + weight : weight.clone();
  }
  EXPECT_LT((chosen.weights.at("embedding") - sum / 3).abs().max().item<double>(), 1e-6);
}

TEST_F(TrainerTest, AnAverageIsTheSameWhateverElseWasSaved) {
  auto plain = input();
  plain.options.average = 2;
  plain.options.keep = 2;
  plain.options.evaluate_every = 12;
  const auto averaged = [&] {
    const auto chosen = select_weights(checkpoints_, "", plain.options);
    std::filesystem::remove_all(checkpoints_);
    return chosen;
  };
  train(plain, tiny());
  const auto expected = averaged();
  EXPECT_EQ(expected.name, "average of 2 checkpoints (steps 8 to 12)");

  auto validated = plain;  // each better one is saved
  validated.options.evaluate_every = 1;
  train(validated, tiny());
  EXPECT_TRUE(torch::equal(averaged().weights.at("embedding"), expected.weights.at("embedding")));
}

TEST_F(TrainerTest, TheLastStepIsPartOfAnAverageOnlyWhereSaveEveryNamesIt) {
  auto odd = input();
  odd.options.save_every = 5;
  odd.options.average = 2;
  odd.options.keep = 2;
  train(odd, tiny());
  const auto chosen = select_weights(checkpoints_, "", odd.options);
  EXPECT_EQ(chosen.name, "average of 2 checkpoints (steps 5 to 10)");
  EXPECT_EQ(list_checkpoints(checkpoints_).back().step, 12);
  std::filesystem::remove_all(checkpoints_ / "step-00000005");
  EXPECT_TRUE(says(
      refusal_of<CheckpointError>([&] { select_weights(checkpoints_, "averaged", odd.options); }),
      "lacks step 5, which belongs to an average of"));
}

TEST_F(TrainerTest, AnotherRunStartsFromTheMeanOfAsManyCheckpointsAsItNames) {
  const auto options = input().options;
  train(input(), tiny());
  const auto embedding = [&](int64_t step) {
    return select_weights(checkpoints_, std::to_string(step), options).weights.at("embedding");
  };
  const auto two = select_start(checkpoints_, {.arm = "a", .average = 2}, options);
  EXPECT_EQ(two.name, "average of 2 checkpoints (steps 8 to 12)");
  EXPECT_TRUE(torch::allclose(two.weights.at("embedding"), (embedding(8) + embedding(12)) / 2));
  EXPECT_FALSE(torch::allclose(two.weights.at("embedding"), embedding(12)));
  const auto one = select_start(checkpoints_, {.arm = "a", .average = 1}, options);
  EXPECT_TRUE(torch::equal(one.weights.at("embedding"), embedding(12)));
  EXPECT_TRUE(says(refusal_of<CheckpointError>(
                       [&] { select_start(checkpoints_, {.arm = "a", .average = 4}, options); }),
                   "cannot give an average of 4 checkpoints: after 12 steps a training has 3 "
                   "of those that training.save_every (4) names"));
}

TEST_F(TrainerTest, AnotherRunStartsFromTheWeightsThatItNames) {
  auto both = input();
  both.options.evaluate_every = 4;
  both.options.ema = 0.5;
  both.options.keep = 1;
  train(both, tiny());
  const auto started = [&](StartWeights weights) {
    return select_start(checkpoints_, {.arm = "a", .weights = weights}, both.options);
  };
  for (const auto& [weights, name] : {std::pair{StartWeights::evaluated, "exponential average"},
                                      {StartWeights::ema, "exponential average"},
                                      {StartWeights::last, "last"},
                                      {StartWeights::best, "best"}})
    EXPECT_EQ(started(weights).name, name);
  EXPECT_TRUE(
      torch::equal(started(StartWeights::last).weights.at("embedding"),
                   select_weights(checkpoints_, "12", both.options).weights.at("embedding")));
  EXPECT_FALSE(torch::equal(started(StartWeights::last).weights.at("embedding"),
                            started(StartWeights::ema).weights.at("embedding")));
}

TEST_F(TrainerTest, ARunWithoutUpdatesHasTheWeightsThatItRecordedWhateverElseItInherits) {
  auto options = input().options;
  options.steps = 0;
  options.patience = 2;
  options.evaluate_every = 4;
  options.init_from.arm = "a";
  const auto weights = weights_of(*tiny());
  save_checkpoint(checkpoints_, {.model = weights,
                                 .state = nlohmann::json::object({{kWeightsRecord, "best of a"}})});
  for (const double ema : {0.0, 0.9}) {
    options.ema = ema;
    const auto chosen = select_weights(checkpoints_, "", options);
    EXPECT_EQ(chosen.name, "best of a");
    EXPECT_TRUE(torch::equal(chosen.weights.at("embedding"), weights.at("embedding")));
  }
}

/// The lines of validations, without seconds.
std::vector<nlohmann::json> validations(const std::filesystem::path& log) {
  auto lines = read_run_log(log);
  std::erase_if(lines, [](const auto& line) { return !line.contains("validation_loss"); });
  for (auto& line : lines) line.erase("seconds");
  return lines;
}

/// Kinds of weights that are evaluated in place of a training's own.
class EvaluatedWeightsTest : public TrainerTest {
 protected:
  /// Validates on a target that it never trains on, so that the first validation is the best.
  EvaluatedWeightsTest() {
    for (int32_t i = 0; i < 12; ++i)
      others_.push_back({{4 + i % 6, tokenizer::kEos}, {tokenizer::kUnk, tokenizer::kUnk}});
  }
  std::vector<TrainerInput> kinds() const {
    auto ema = input(), average = input(), own = input();
    ema.options.ema = 0.5;
    average.options.average = 2;
    std::vector<TrainerInput> all{own, ema, average};
    own.options.optimizer = ScheduleFree{};
    all.push_back(own);
    for (const size_t averaging : {1, 2}) {
      all.push_back(all[averaging]);
      all.back().options.lora = {.rank = 2, .on = {"attention", "feed_forward"}};
    }
    for (auto& one : all) {
      one.validation = others_;
      one.options.evaluate_every = 4;
      one.options.save_every = 2;
      one.options.keep = 2;
    }
    return all;
  }
  void train_kind(const TrainerInput& kind) {
    std::filesystem::remove_all(kind.checkpoints);
    resume_kind(kind);
  }
  void resume_kind(const TrainerInput& kind) { train(kind, tiny(kind.options)); }
  double loss_of(const TrainerInput& kind, const std::string& which) const {
    auto model = tiny();
    load_weights(*model, select_weights(kind.checkpoints, which, kind.options).weights);
    return likelihood(model, kind.validation, {kind.options.tokens_per_batch, std::nullopt}).nll;
  }

  std::vector<data::EncodedExample> others_;
};

TEST_F(EvaluatedWeightsTest, ValidationsAreOfTheWeightsWithWhichTheRunIsEvaluated) {
  for (const auto& kind : kinds()) {
    train_kind(kind);
    const auto lines = validations(kind.log);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_NEAR(lines.back()["validation_loss"], loss_of(kind, ""), 1e-6) << messages_.str();
    const double best = lines.front()["validation_loss"];
    EXPECT_LT(best, lines.back()["validation_loss"]) << "so that it tells them apart";
    EXPECT_NEAR(best, loss_of(kind, "best"), 1e-6);
    if (kind.options.ema + static_cast<double>(kind.options.average) > 0) {
      EXPECT_GT(std::abs(best - loss_of(kind, "4")), 1e-4) << "the training's own weights";
    }
  }
}

TEST_F(EvaluatedWeightsTest, PatienceEvaluatesTheWeightsThatItChose) {
  for (auto kind : kinds()) {
    kind.options.patience = 1;
    train_kind(kind);
    const auto lines = validations(kind.log);
    ASSERT_EQ(lines.size(), 2U) << "stopped early";
    EXPECT_EQ(select_weights(kind.checkpoints, "", kind.options).name, "best");
    EXPECT_NEAR(lines.front()["validation_loss"], loss_of(kind, ""), 1e-6);
  }
}

TEST_F(EvaluatedWeightsTest, ATrainingThatGoesOnValidatesTheSameWeights) {
  for (auto kind : kinds()) {
    kind.options.observe.every = 3;
    train_kind(kind);
    const auto whole = validations(kind.log);
    const auto weights = select_weights(kind.checkpoints, "", kind.options).weights;
    remove_after_step_4(kind.checkpoints);
    resume_kind(kind);
    EXPECT_EQ(validations(kind.log), whole);
    const auto again = select_weights(kind.checkpoints, "", kind.options).weights;
    for (const auto& [name, weight] : weights)
      EXPECT_TRUE(torch::equal(again.at(name), weight)) << name;
  }
}

TEST_F(EvaluatedWeightsTest, BeforeTheFirstCheckpointsTheAverageIsOfThoseThatThereAre) {
  auto kind = kinds()[2];
  kind.options.evaluate_every = 1;
  kind.options.keep = 12;
  kind.options.save_every = 1;
  kind.options.average = 4;
  train_kind(kind);
  const auto lines = validations(kind.log);
  for (const int64_t step : {1, 2, 3, 7}) {
    std::vector<Weights> models;
    for (auto i = std::max<int64_t>(1, step - 3); i <= step; ++i)
      models.push_back(select_weights(kind.checkpoints, std::to_string(i), {}).weights);
    auto model = tiny();
    load_weights(*model, average(models));
    EXPECT_NEAR(
        lines[static_cast<size_t>(step - 1)]["validation_loss"],
        likelihood(model, kind.validation, {kind.options.tokens_per_batch, std::nullopt}).nll, 1e-6)
        << step;
  }
}

TEST_F(TrainerTest, TheExponentialAverageFollowsTheWeights) {
  auto following = input();
  following.options.ema = 0.5;
  train(following, tiny());
  const auto average = select_weights(checkpoints_, "", following.options);
  const auto last = select_weights(checkpoints_, "last", following.options);
  EXPECT_EQ(average.name, "exponential average");
  const auto far =
      (tiny()->output_weight() - last.weights.at("embedding")).abs().max().item<double>();
  const auto near =
      (average.weights.at("embedding") - last.weights.at("embedding")).abs().max().item<double>();
  EXPECT_GT(near, 0);
  EXPECT_LT(near, far);
}

}  // namespace
}  // namespace ablate::training
