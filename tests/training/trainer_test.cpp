#include "training/trainer.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/training/event_reader.h"
#include "tests/training/trainer_test_case.h"
#include "training/checkpoint_selection.h"
#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

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
  return refusal_of<Diverged>([&] { training(); });
}

TEST_F(TrainerTest, ALossThatIsNotFiniteStopsWithoutASave) {
  EXPECT_THROW(train(input(), broken()), Diverged);
  EXPECT_TRUE(list_checkpoints(checkpoints_).empty());
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
    EXPECT_FALSE(says(error.what(), "-nan"));
  }
  const auto log = read_run_log(log_);
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
            "are not finite; lower training.schedule.peak or set training.max_grad_norm");
  EXPECT_TRUE(list_checkpoints(checkpoints_).empty());
}

TEST_F(TrainerTest, AValidationLossThatIsNotFiniteIsNeverTheBest) {
  auto skipping = input();
  skipping.options.not_finite = NotFinite::skip;
  skipping.options.evaluate_every = 2;
  const auto said = complaint([&] { train(skipping, broken()); });
  EXPECT_EQ(said, "step 2: in validation the loss of 120 target tokens is nan");
  EXPECT_TRUE(list_checkpoints(checkpoints_).empty());
}

TEST_F(TrainerTest, GoesOnBitForBitWithEveryOptimizer) {
  for (const OptimizerOptions& kind :
       {OptimizerOptions(Adam{}), OptimizerOptions(AdamW{}), OptimizerOptions(Sgd{}),
        OptimizerOptions(Lion{}), OptimizerOptions(Muon{}), OptimizerOptions(NorMuon{}),
        OptimizerOptions(AdamMini{}), OptimizerOptions(Mars{}), OptimizerOptions(Scion{}),
        OptimizerOptions(Sophia{.curvature_interval = 4}),
        OptimizerOptions(Soap{.precondition_frequency = 3}),
        OptimizerOptions(Kron{.precondition_start = 2, .precondition_frequency = 3}),
        OptimizerOptions(ScheduleFree{})}) {
    auto chosen = input();
    chosen.options.optimizer = kind;
    chosen.options.ema = 0.5;
    chosen.options.evaluate_every = 3;
    chosen.options.accumulate = 2;
    chosen.options.batch_warmup.share = 0.5;
    SCOPED_TRACE(kind.index());
    expect_goes_on(chosen);
    EXPECT_EQ(list_checkpoints(checkpoints_).back().step, 12);
    std::filesystem::remove_all(checkpoints_);
  }
}

TEST_F(TrainerTest, DividesAnIndependentDecayByThePeakAndAddsTheZLoss) {
  const auto weights_after = [&](const AdamW& optimizer, double z_loss) {
    auto chosen = input();
    chosen.options.schedule = Constant{{.peak = 1e-2}};
    chosen.options.optimizer = optimizer;
    chosen.options.z_loss = z_loss;
    train(chosen, tiny());
    const auto last = last_checkpoint(checkpoints_).model;
    std::filesystem::remove_all(checkpoints_);
    return last.at("embedding").clone();
  };
  const auto plain = weights_after(AdamW{Adam{}, 0.5}, 0);
  const AdamW independent{Adam{}, 0.005, false, /*independent_decay=*/true};
  EXPECT_LT((weights_after(independent, 0) - plain).abs().max().item<double>(), 1e-5);
  EXPECT_GT((weights_after(AdamW{Adam{}, 0.005}, 0) - plain).abs().max().item<double>(), 1e-3);
  EXPECT_GT((weights_after(AdamW{Adam{}, 0.5}, 0.1) - plain).abs().max().item<double>(), 1e-3);
}

TEST_F(TrainerTest, KeepsTheNewestCheckpointsAndTheBest) {
  auto often = input();
  often.options.keep = 1;
  often.options.evaluate_every = 2;
  const auto summary = train(often, tiny());
  const auto left = list_checkpoints(checkpoints_);
  EXPECT_EQ(left.back().step, 12);
  EXPECT_LE(left.size(), 2U);
  EXPECT_EQ(left.front().step, std::min<int64_t>(summary.state.best_step, 12));
}

TEST_F(TrainerTest, FinishesWhatAKilledProcessLeftOfItsLastPruning) {
  auto one = input();
  train(one, tiny());
  std::filesystem::rename(checkpoints_ / "step-00000004", checkpoints_ / ".tmp-step-00000004");
  one.options.keep = 1;
  train(one, tiny());
  EXPECT_FALSE(std::filesystem::exists(checkpoints_ / ".tmp-step-00000004"));
  EXPECT_EQ(list_checkpoints(checkpoints_).size(), 1U);
}

TEST_F(TrainerTest, GoesOnFromTheCheckpointBeforeADamagedOneAndReplacesIt) {
  train(input(), tiny());
  const auto file = checkpoints_ / "step-00000012/model.safetensors";
  const auto whole = read_bytes(file);
  overwrite(file, "x");
  std::filesystem::remove_all(checkpoints_ / "step-00000008");
  auto fewer = input();
  fewer.options.keep = 1;
  train(fewer, tiny());
  EXPECT_TRUE(says(messages_.str(), "checkpoint of step 12 is not used"));
  EXPECT_EQ(read_bytes(file), whole);
  EXPECT_EQ(list_checkpoints(checkpoints_).size(), 1U);
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

TEST(LogEvery, FollowsTheNumberOfStepsUnlessItIsGiven) {
  const auto lines = [](const TrainingOptions& options) {
    int64_t count = 0;
    for (int64_t step = 1; step <= options.steps; ++step) count += options.logs(step) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(lines({.steps = 12}), 12);
  EXPECT_EQ(lines({.steps = 250}), 125);      // every second
  EXPECT_EQ(lines({.steps = 2010}), 101);     // every 20th, and the last
  EXPECT_EQ(lines({.steps = 50'000}), 1000);  // every 50th, the most
  EXPECT_EQ(lines({.steps = 12, .log_every = 5}), 3);
}

TEST_F(TrainerTest, TensorBoardShowsTheLogAlsoOfARunThatWasKilled) {
  auto often = input();
  often.options.log_every = 1;
  often.options.evaluate_every = 4;
  train(often, tiny());
  remove_after_step_4(checkpoints_);
  train(often, tiny());
  Curves expected;
  for (const auto& line : read_run_log(log_))
    for (const auto& scalar : scalars_of(line))
      expected[scalar.tag].emplace_back(line["step"], static_cast<float>(scalar.value));
  auto shown = curves_of(folder());
  EXPECT_EQ(shown.at("training/tokens_per_second").size(), 12U);
  EXPECT_GT(shown.at("training/tokens_per_second").front().second, 0) << "of the first update";
  shown.erase("training/tokens_per_second");  // which no log line has, for it never repeats
  EXPECT_EQ(shown, expected);
  EXPECT_EQ(expected.at("training/loss").size(), 12U);
  EXPECT_EQ(expected.at("validation/perplexity").size(), 3U);
}

TEST_F(TrainerTest, CountsWhatIsSpentOverAllStretches) {
  auto options = input();
  options.options.log_every = 1;
  options.options.evaluate_every = 4;
  const auto whole = train(options, tiny()).state;
  const auto log = read_run_log(log_);
  remove_after_step_4(checkpoints_);
  const double before = last_checkpoint(checkpoints_).state.at("seconds");
  auto model = tiny();
  const auto resumed = train(options, model).state;
  EXPECT_EQ(resumed.flops, whole.flops);
  EXPECT_GT(resumed.seconds, before);

  auto stream = batches_of(options);
  models::PassFlops passes(*model);
  double flops = 0, seconds = 0;
  for (const auto& line : log) {
    if (line.contains("loss")) {
      const auto batch = stream.next();
      flops += 3 * passes.forward({batch.rows, batch.source_length, batch.target_length});
      EXPECT_GT(line.at("seconds"), seconds);
    }
    EXPECT_EQ(line.at("flops"), flops) << line;
    EXPECT_TRUE(line.contains("tokens"));
    seconds = line.at("seconds");
  }
  EXPECT_EQ(whole.flops, flops);
}

/// The lines of the log without the seconds, which differ each time.
std::vector<nlohmann::json> steady_lines(const std::filesystem::path& log) {
  auto all = read_run_log(log);
  for (auto& line : all) line.erase("seconds");
  return all;
}

/// Those of them that tell what was observed, or the others.
std::vector<nlohmann::json> lines(const std::filesystem::path& log, bool observed) {
  auto all = steady_lines(log);
  std::erase_if(all, [&](const auto& line) { return line.contains("observed") != observed; });
  return all;
}

/// With all that passes leave behind: running means, dropout, accumulation and clipping.
models::Transformer with_running_means() {
  return models::make(
      models::tiny("d_model: 8, layers: 1, feed_forward.d_hidden: 8, norm.kind: batch"),
      {10, 10, tokenizer::kPad}, 1);
}

TEST_F(TrainerTest, ObservingChangesNoBitOfTheTraining) {
  for (const int64_t accumulate : {1, 3}) {
    auto plain = input();
    plain.options.accumulate = accumulate;
    plain.options.clips.norm.most = 0.5;
    plain.options.ema = 0.5;
    plain.options.evaluate_every = 5;
    train(plain, with_running_means());
    const auto unseen = last_checkpoint(checkpoints_);
    const auto log = lines(log_, false);
    std::filesystem::remove_all(checkpoints_);
    plain.options.observe.every = 1;
    train(plain, with_running_means());
    const auto seen = last_checkpoint(checkpoints_);
    expect_same(unseen.model, seen.model);
    expect_same(unseen.optimizer, seen.optimizer);
    EXPECT_EQ(lines(log_, false), log);
    EXPECT_GT(lines(log_, true).size(), 12U * 10U);
    std::filesystem::remove_all(checkpoints_);
  }
}

TEST_F(TrainerTest, SavesAndValidatesTheAverageOfAScheduleFreeTraining) {
  auto chosen = input();
  chosen.options.optimizer = ScheduleFree{};
  chosen.options.schedule = Constant{{.peak = 0.05}};
  chosen.options.evaluate_every = 12;
  auto model = tiny();
  train(chosen, model);
  const auto saved = last_checkpoint(checkpoints_);
  for (const auto& item : model->named_parameters()) {
    EXPECT_TRUE(
        torch::equal(saved.model.at(item.key()), saved.optimizer.at("average." + item.key())))
        << item.key();
    EXPECT_FALSE(torch::equal(saved.model.at(item.key()), item.value())) << item.key();
  }
  load_weights(*model, saved.model);
  const auto log = lines(log_, false);
  const auto line =
      std::ranges::find_if(log, [](const auto& one) { return one.contains("validation_loss"); });
  ASSERT_NE(line, log.end());
  const double loss =
      likelihood(model, chosen.validation, {chosen.options.tokens_per_batch, std::nullopt}).nll;
  EXPECT_EQ((*line)["validation_loss"], loss);
}

TEST_F(TrainerTest, ObservesBeforeTheFirstStepThenAsOftenAsAskedAndAfterTheLast) {
  auto watched = input();
  watched.options.observe.every = 5;
  train(watched, tiny());
  std::map<std::string, std::set<int64_t>> steps;
  for (const auto& line : lines(log_, true))
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
    std::filesystem::remove_all(checkpoints_);
    std::set<int64_t> seen;
    for (const auto& line : lines(log_, true)) seen.insert(line["step"].get<int64_t>());
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
  const auto whole = steady_lines(log_);
  remove_after_step_4(checkpoints_);
  train(watched, tiny());
  EXPECT_EQ(steady_lines(log_), whole);
  std::filesystem::remove_all(checkpoints_);
  train(watched, tiny());  // begins again
  EXPECT_EQ(steady_lines(log_), whole);
  for (const auto& [tag, points] : curves_of(folder())) {
    std::set<int64_t> steps;
    for (const auto& point : points) EXPECT_TRUE(steps.insert(point.first).second) << tag;
  }
}

TEST_F(TrainerTest, AMissingCheckpointIsNamedWithThoseThatThereAre) {
  train(input(), tiny());
  EXPECT_TRUE(
      says(refusal_of<CheckpointError>([&] { select_weights(checkpoints_, "7", input().options); }),
           "no checkpoint of step 7; there are: 4 8 12"));
}

}  // namespace
}  // namespace ablate::training
