#include "training/trainer.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <sstream>

#include "tests/training/event_reader.h"
#include "tests/training/folder_test_case.h"
#include "tokenizer/special_ids.h"
#include "training/checkpoint_selection.h"

namespace ablate::training {
namespace {

models::Transformer tiny() {
  models::Transformer model(
      models::TransformerOptions{.d_model = 8,
                                 .layers = 1,
                                 .attention = models::MultiHead{.heads = 2},
                                 .feed_forward = models::DenseFeedForward{.d_hidden = 8}},
      models::Vocabulary{10, 10, tokenizer::kPad});
  models::initialize(*model, 1);
  return model;
}

class TrainerTest : public FolderTestCase {
 protected:
  TrainerTest() {
    for (int32_t i = 0; i < 40; ++i) {
      const int32_t id = 4 + i % 6;
      examples_.push_back({{id, tokenizer::kEos}, {id, id, tokenizer::kEos}});
    }
  }
  TrainerInput input() const {
    return {.options = {.steps = 12,
                        .tokens_per_batch = 24,
                        .schedule = Constant{{.peak = 1e-2}},
                        .max_length = 8,
                        .log_every = 3,
                        .save_every = 4,
                        .keep = 3},
            .dropout = 0.1,
            .seed = 5,
            .train = examples_,
            .validation = examples_,
            .folder = folder(),
            .log = folder() / "metrics.jsonl",
            .checkpoints = folder() / "checkpoints"};
  }
  TrainingSummary train(const TrainerInput& input, models::Transformer model) {
    Trainer trainer(std::move(model), input, {.stream = messages_, .steps = 12});
    return trainer.run();
  }
  std::vector<data::EncodedExample> examples_;
  std::ostringstream messages_;
};

/// A model whose decoder has a bias of that size.
models::Transformer biased(float bias) {
  auto model = tiny();
  torch::NoGradGuard no_grad;
  model->named_parameters()["decoder.layers.0.feed_forward.up.bias"].fill_(bias);
  return model;
}

/// A model whose numbers are finite and whose loss is not.
models::Transformer broken() { return biased(std::numeric_limits<float>::max()); }

/// What Diverged says of a training; "" where it comes to its end.
std::string complaint(const std::function<void()>& training) {
  try {
    training();
  } catch (const Diverged& error) {
    return error.what();
  }
  return "";
}

TEST_F(TrainerTest, ALossThatIsNotFiniteStopsWithoutASave) {
  EXPECT_THROW(train(input(), broken()), Diverged);
  EXPECT_TRUE(list_checkpoints(folder() / "checkpoints").empty());
}

TEST_F(TrainerTest, ARunThatDivergesLogsTheStepsBefore) {
  auto wild = input();
  wild.options.schedule = Constant{{.peak = 1e30}};
  wild.options.log_every = 100;
  wild.options.not_finite = NotFinite::stop;
  try {
    train(wild, tiny());
    FAIL();
  } catch (const Diverged& error) {
    EXPECT_EQ(std::string(error.what()).find("-nan"), std::string::npos) << error.what();
  }
  const auto log = read_run_log(folder() / "metrics.jsonl");
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log.front()["step"], 2);
  EXPECT_GT(log.front()["loss"].get<double>(), 0) << "of the first step, the finite one";
  EXPECT_EQ(log.front()["gradient_norm"], "NaN");
}

TEST_F(TrainerTest, UpdatesThatAreNotFiniteAreLeftOutAndCountedWhereWanted) {
  auto skipping = input();
  skipping.options.not_finite = NotFinite::skip;
  EXPECT_EQ(train(skipping, broken()).state.skipped, 12);
}

TEST_F(TrainerTest, AWeightThatIsNotFiniteIsNamedAndNeverSaved) {
  auto skipping = input();
  skipping.options.not_finite = NotFinite::skip;
  const auto infinite = biased(std::numeric_limits<float>::infinity());
  EXPECT_EQ(complaint([&] { train(skipping, infinite); }),
            "step 4: the weight 'decoder.layers.0.feed_forward.up.bias' holds 8 numbers of 8 that "
            "are not finite; lower training.schedule.peak or set training.clip");
  EXPECT_TRUE(list_checkpoints(folder() / "checkpoints").empty());
}

TEST_F(TrainerTest, AValidationLossThatIsNotFiniteIsNeverTheBest) {
  auto skipping = input();
  skipping.options.not_finite = NotFinite::skip;
  skipping.options.evaluate_every = 2;
  const auto said = complaint([&] { train(skipping, broken()); });
  EXPECT_TRUE(said.starts_with("step 2: in validation the loss of 120 target tokens is ")) << said;
  EXPECT_TRUE(list_checkpoints(folder() / "checkpoints").empty());
}

TEST_F(TrainerTest, GoesOnBitForBitWithEveryOptimizer) {
  for (const OptimizerOptions& kind :
       {OptimizerOptions(Adam{}), OptimizerOptions(AdamW{}), OptimizerOptions(Sgd{}),
        OptimizerOptions(Lion{}), OptimizerOptions(Muon{})}) {
    auto chosen = input();
    chosen.options.optimizer = kind;
    chosen.options.ema = 0.5;
    train(chosen, tiny());
    const auto checkpoints = folder() / "checkpoints";
    const auto whole = load_checkpoint(list_checkpoints(checkpoints).back().path);
    for (const auto& found : list_checkpoints(checkpoints))
      if (found.step > 4) std::filesystem::remove_all(found.path);
    train(chosen, tiny());
    const auto resumed = load_checkpoint(list_checkpoints(checkpoints).back().path);
    ASSERT_EQ(resumed.step, 12);
    ASSERT_EQ(resumed.optimizer.size(), whole.optimizer.size());
    for (const auto& [name, tensor] : whole.model)
      EXPECT_TRUE(torch::equal(tensor, resumed.model.at(name))) << kind.index() << name;
    for (const auto& [name, tensor] : whole.optimizer)
      EXPECT_TRUE(torch::equal(tensor, resumed.optimizer.at(name))) << kind.index() << name;
    std::filesystem::remove_all(checkpoints);
  }
}

TEST_F(TrainerTest, GoesOnFromACheckpointWithTheNamesOfEarlierVersions) {
  auto averaging = input();
  averaging.options.ema = 0.5;
  train(averaging, tiny());
  const auto checkpoints = folder() / "checkpoints";
  const auto whole = load_checkpoint(list_checkpoints(checkpoints).back().path);
  auto early = load_checkpoint(list_checkpoints(checkpoints).front().path);
  early.state["interval_negative"] = early.state["interval_nll"];
  early.state["best_negative"] = early.state["best_nll"];
  early.state.erase("interval_nll");
  early.state.erase("best_nll");
  for (const auto& [name, average] : extract_ema(early.optimizer))
    early.optimizer["shadow." + name] = average;
  std::filesystem::remove_all(checkpoints);
  save_checkpoint(checkpoints, early);
  train(averaging, tiny());
  const auto resumed = load_checkpoint(list_checkpoints(checkpoints).back().path);
  ASSERT_EQ(resumed.step, whole.step);
  for (const auto& [name, tensor] : whole.optimizer)
    EXPECT_TRUE(torch::equal(tensor, resumed.optimizer.at(name))) << name;
}

TEST_F(TrainerTest, KeepsTheNewestCheckpointsAndTheBest) {
  auto often = input();
  often.options.keep = 1;
  often.options.evaluate_every = 2;
  const auto summary = train(often, tiny());
  const auto left = list_checkpoints(folder() / "checkpoints");
  EXPECT_EQ(left.back().step, 12);
  EXPECT_LE(left.size(), 2U);
  EXPECT_EQ(left.front().step, std::min<int64_t>(summary.state.best_step, 12));
}

TEST_F(TrainerTest, FinishesWhatAKilledProcessLeftOfItsLastPruning) {
  auto one = input();
  train(one, tiny());
  const auto checkpoints = folder() / "checkpoints";
  std::filesystem::rename(checkpoints / "step-00000004", checkpoints / ".tmp-step-00000004");
  one.options.keep = 1;
  train(one, tiny());
  EXPECT_FALSE(std::filesystem::exists(checkpoints / ".tmp-step-00000004"));
  EXPECT_EQ(list_checkpoints(checkpoints).size(), 1U);
}

TEST_F(TrainerTest, StopsEarlyWhenValidationNoLongerImproves) {
  auto patient = input();
  patient.options.evaluate_every = 1;
  patient.options.patience = 2;
  patient.options.schedule = Constant{{.peak = 10.0}};
  const auto summary = train(patient, tiny());
  EXPECT_TRUE(summary.state.stopped_early);
  EXPECT_LT(summary.state.step, 12);
  EXPECT_EQ(train(patient, tiny()).state.step, summary.state.step)
      << "it must not go on when started again";
}

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

  auto paused = plain;  // as for a rung, or when asked to stop
  for (const int64_t step : {5, 9, 10, 11}) {
    paused.until = step;
    train(paused, tiny());
  }
  train(plain, tiny());
  EXPECT_TRUE(torch::equal(averaged().weights.at("embedding"), expected.weights.at("embedding")));

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

TEST_F(TrainerTest, TensorBoardShowsTheLogAlsoOfARunThatWasKilled) {
  auto often = input();
  often.options.log_every = 1;
  often.options.evaluate_every = 4;
  train(often, tiny());
  for (const auto& found : list_checkpoints(folder() / "checkpoints"))
    if (found.step > 4) std::filesystem::remove_all(found.path);
  train(often, tiny());  // continues after step 4
  Curves expected;
  for (const auto& line : read_run_log(folder() / "metrics.jsonl"))
    for (const auto& scalar : scalars_of(line))
      expected[scalar.tag].emplace_back(line["step"], static_cast<float>(scalar.value));
  auto shown = curves_of(folder());
  EXPECT_EQ(shown.at("training/tokens_per_second").size(), 12U);
  shown.erase("training/tokens_per_second");  // which no log line has, for it never repeats
  EXPECT_EQ(shown, expected);
  EXPECT_EQ(expected.at("training/loss").size(), 12U);
  EXPECT_EQ(expected.at("validation/perplexity").size(), 3U);
}

/// The lines of the log that tell what was observed, or the others.
std::vector<nlohmann::json> lines(const std::filesystem::path& log, bool observed) {
  auto all = read_run_log(log);
  std::erase_if(all, [&](const auto& line) { return line.contains("observed") != observed; });
  return all;
}

/// With all that passes leave behind: running means, dropout, accumulation and clipping.
models::Transformer with_running_means() {
  models::Transformer model(
      models::TransformerOptions{.d_model = 8,
                                 .layers = 1,
                                 .attention = models::MultiHead{.heads = 2},
                                 .feed_forward = models::DenseFeedForward{.d_hidden = 8},
                                 .norm = {.kind = models::NormKind::batch}},
      models::Vocabulary{10, 10, tokenizer::kPad});
  models::initialize(*model, 1);
  return model;
}

TEST_F(TrainerTest, ObservingChangesNoBitOfTheTraining) {
  for (const int64_t accumulate : {1, 3}) {
    auto plain = input();
    plain.options.accumulate = accumulate;
    plain.options.clip = 0.5;
    plain.options.ema = 0.5;
    plain.options.evaluate_every = 5;
    train(plain, with_running_means());
    const auto checkpoints = folder() / "checkpoints";
    const auto unseen = load_checkpoint(list_checkpoints(checkpoints).back().path);
    const auto log = read_run_log(folder() / "metrics.jsonl");
    std::filesystem::remove_all(checkpoints);
    plain.options.observe.every = 1;
    train(plain, with_running_means());
    const auto seen = load_checkpoint(list_checkpoints(checkpoints).back().path);
    for (const auto& [name, tensor] : unseen.model)
      EXPECT_TRUE(torch::equal(tensor, seen.model.at(name))) << name;
    for (const auto& [name, tensor] : unseen.optimizer)
      EXPECT_TRUE(torch::equal(tensor, seen.optimizer.at(name))) << name;
    EXPECT_EQ(lines(folder() / "metrics.jsonl", false), log);
    EXPECT_GT(lines(folder() / "metrics.jsonl", true).size(), 12U * 10U);
    std::filesystem::remove_all(checkpoints);
  }
}

TEST_F(TrainerTest, ObservesBeforeTheFirstStepThenAsOftenAsAskedAndAfterTheLast) {
  auto watched = input();
  watched.options.observe.every = 5;
  train(watched, tiny());
  std::map<std::string, std::set<int64_t>> steps;
  for (const auto& line : lines(folder() / "metrics.jsonl", true))
    steps[line["observed"]].insert(line["step"].get<int64_t>());
  EXPECT_EQ(steps.at("rank_residual"), (std::set<int64_t>{0, 5, 10, 12}));
  EXPECT_EQ(steps.at("update_ratio"), (std::set<int64_t>{5, 10, 12}));
  EXPECT_EQ(steps.size(), 8U);  // six, and the two estimates behind the noise
}

TEST_F(TrainerTest, ObservesAfterTheStepsOfOnesChoice) {
  auto watched = input();
  watched.options.observe.at = {1, 7};
  const auto steps = [&] {
    train(watched, tiny());
    std::filesystem::remove_all(folder() / "checkpoints");
    std::set<int64_t> seen;
    for (const auto& line : lines(folder() / "metrics.jsonl", true))
      seen.insert(line["step"].get<int64_t>());
    return seen;
  };
  EXPECT_EQ(steps(), (std::set<int64_t>{0, 1, 7, 12}));
  watched.options.observe.every = 5;
  EXPECT_EQ(steps(), (std::set<int64_t>{0, 1, 5, 7, 10, 12}));
}

TEST_F(TrainerTest, ARunThatGoesOnObservesWhatItWouldHaveObserved) {
  auto watched = input();
  watched.options.observe.every = 3;
  train(watched, tiny());
  const auto whole = read_bytes(folder() / "metrics.jsonl");
  for (const auto& found : list_checkpoints(folder() / "checkpoints"))
    if (found.step > 4) std::filesystem::remove_all(found.path);
  train(watched, tiny());  // continues after step 4
  EXPECT_EQ(read_bytes(folder() / "metrics.jsonl"), whole);
  std::filesystem::remove_all(folder() / "checkpoints");
  train(watched, tiny());  // begins again
  EXPECT_EQ(read_bytes(folder() / "metrics.jsonl"), whole);
  for (const auto& [tag, points] : curves_of(folder())) {
    std::set<int64_t> steps;
    for (const auto& point : points) EXPECT_TRUE(steps.insert(point.first).second) << tag;
  }
}

TEST_F(TrainerTest, AMissingCheckpointIsNamedWithThoseThatThereAre) {
  train(input(), tiny());
  try {
    select_weights(folder() / "checkpoints", "7", input().options);
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_NE(std::string(error.what()).find("no checkpoint of step 7; there are: 4 8 12"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace ablate::training
