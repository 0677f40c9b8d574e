#include "tests/training/trainer_test_case.h"
#include "training/checkpoint_selection.h"

namespace ablate::training {
namespace {

TEST_F(TrainerTest, AveragedWeightsAreTheMeanOfTheLastCheckpoints) {
  auto averaging = input();
  averaging.options.average = 3;
  train(averaging, tiny());
  const auto chosen = select_weights(folder() / "checkpoints", "", averaging.options);
  EXPECT_EQ(chosen.name, "average of 3 checkpoints (steps 4 to 12)");
  torch::Tensor sum;
  for (const auto& found : list_checkpoints(folder() / "checkpoints")) {
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
  const auto checkpoints = folder() / "checkpoints";
  const auto averaged = [&] {
    const auto chosen = select_weights(checkpoints, "", plain.options);
    std::filesystem::remove_all(checkpoints);
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
  const auto checkpoints = folder() / "checkpoints";
  const auto chosen = select_weights(checkpoints, "", odd.options);
  EXPECT_EQ(chosen.name, "average of 2 checkpoints (steps 5 to 10)");
  EXPECT_EQ(list_checkpoints(checkpoints).back().step, 12);
  std::filesystem::remove_all(checkpoints / "step-00000005");
  try {
    select_weights(checkpoints, "averaged", odd.options);
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find("lacks step 5, which belongs to the average of"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(TrainerTest, AnotherRunStartsFromTheMeanOfAsManyCheckpointsAsItNames) {
  const auto options = input().options;
  train(input(), tiny());
  const auto checkpoints = folder() / "checkpoints";
  const auto all = list_checkpoints(checkpoints);
  const auto embedding = [&](int64_t step) {
    return select_weights(checkpoints, std::to_string(step), options).weights.at("embedding");
  };
  const auto two = select_start(checkpoints, {.arm = "a", .average = 2}, options);
  EXPECT_EQ(two.name, "average of 2 checkpoints (steps 8 to 12)");
  EXPECT_TRUE(torch::allclose(two.weights.at("embedding"), (embedding(8) + embedding(12)) / 2));
  EXPECT_FALSE(torch::allclose(two.weights.at("embedding"), embedding(12)));
  const auto one = select_start(checkpoints, {.arm = "a", .average = 1}, options);
  EXPECT_TRUE(torch::equal(one.weights.at("embedding"), embedding(12)));
  try {
    select_start(checkpoints, {.arm = "a", .average = 4}, options);
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("cannot give an average of 4 checkpoints: after 12 steps a training has 3 "
                        "of those that training.save_every (4) names"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(TrainerTest, AnotherRunStartsFromTheWeightsThatItNames) {
  auto both = input();
  both.options.evaluate_every = 4;
  both.options.ema = 0.5;
  both.options.keep = 1;
  train(both, tiny());
  const auto checkpoints = folder() / "checkpoints";
  const auto started = [&](StartWeights weights) {
    return select_start(checkpoints, {.arm = "a", .weights = weights}, both.options);
  };
  for (const auto& [weights, name] : {std::pair{StartWeights::evaluated, "exponential average"},
                                      {StartWeights::ema, "exponential average"},
                                      {StartWeights::last, "last"},
                                      {StartWeights::best, "best"}})
    EXPECT_EQ(started(weights).name, name);
  EXPECT_TRUE(
      torch::equal(started(StartWeights::last).weights.at("embedding"),
                   select_weights(checkpoints, "12", both.options).weights.at("embedding")));
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
  save_checkpoint(
      folder() / "checkpoints",
      {.model = weights, .state = nlohmann::json::object({{kWeightsRecord, "best of a"}})});
  for (const double ema : {0.0, 0.9}) {
    options.ema = ema;
    const auto chosen = select_weights(folder() / "checkpoints", "", options);
    EXPECT_EQ(chosen.name, "best of a");
    EXPECT_TRUE(torch::equal(chosen.weights.at("embedding"), weights.at("embedding")));
  }
}

TEST_F(TrainerTest, TheExponentialAverageFollowsTheWeights) {
  auto following = input();
  following.options.ema = 0.5;
  train(following, tiny());
  const auto average = select_weights(folder() / "checkpoints", "", following.options);
  const auto last = select_weights(folder() / "checkpoints", "last", following.options);
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
