#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

const std::string kAll =
    kHead +
    "base:\n"
    "  data: {task: copy, symbols: 4, train_length: [2, 3], test_length: [3], examples: {train: "
    "50}}\n"
    "  training:\n"
    "    steps: 60\n"
    "    schedule: {kind: cosine, peak: 0.02, warmup: 10, floor: 0.001}\n"
    "    optimizer: {kind: adamw, beta2: 0.999, weight_decay: 0.1}\n";

TEST(AnotherKind, KeepsWhatBothKnow) {
  const auto run = run_of(kAll + "arms: {a: {training.schedule.kind: linear}}\n", "a");
  const auto schedule = std::get<training::Linear>(run.experiment.training.schedule);
  EXPECT_EQ(schedule.peak, 0.02);
  EXPECT_EQ(schedule.warmup, 10);
  EXPECT_EQ(schedule.floor, 0.001);
  EXPECT_EQ(run.origins.at("training.schedule.peak"), "study.yaml:7");
  EXPECT_EQ(run.origins.at("training.schedule.kind"), "study.yaml:9");
}

TEST(AnotherKind, MayBeABareWord) {
  const auto run = run_of(kAll + "arms: {a: {training.schedule: linear}}\n", "a");
  EXPECT_EQ(std::get<training::Linear>(run.experiment.training.schedule).peak, 0.02);
  EXPECT_EQ(run.origins.at("training.schedule.kind"), "study.yaml:9");
  const auto whole = run_of(kModel + "{position: rotary}\n", "base");
  EXPECT_TRUE(std::holds_alternative<models::Rotary>(whole.experiment.model.layer.position));
}

TEST(AnotherKind, HasItsOwnDefaultsOfWhatNobodyGave) {
  const auto run = run_of(kBase +
                              "  training: {optimizer: {kind: adam}}\n"
                              "arms: {a: {training.optimizer.kind: lion}}\n",
                          "a");
  EXPECT_EQ(std::get<training::Lion>(run.experiment.training.optimizer).beta2,
            training::Lion().beta2);
}

TEST(AnotherKind, OfATaskKeepsSizesAndNestedSections) {
  const auto study = study_of(kAll + "tasks: {copy: {}, sort: {data.task: sort}}\n");
  const auto sort = std::get<data::Sort>(study.runs.back().experiment.data);
  EXPECT_EQ(sort.symbols, 4);
  EXPECT_EQ(sort.train_length, (std::array<int64_t, 2>{2, 3}));
  EXPECT_EQ(sort.examples.train, 50);
  EXPECT_EQ(sort.examples.test, data::Sizes().test);
}

TEST(AnotherKind, KeepsKindsWithinItAndTheirKeys) {
  const auto run = run_of(kModel +
                              "{feed_forward: {kind: moe, d_hidden: 48, router: {kind: noisy}}}\n"
                              "arms: {a: {model.feed_forward.kind: dense}}\n",
                          "a");
  EXPECT_EQ(std::get<models::DenseFeedForward>(run.experiment.model.layer.feed_forward).d_hidden,
            48);
}

TEST(AnotherKind, IsLaidUnderWhatTheArmGivesItself) {
  const auto run =
      run_of(kAll + "arms: {a: {training.schedule: {kind: linear, peak: 0.5}}}\n", "a");
  const auto schedule = std::get<training::Linear>(run.experiment.training.schedule);
  EXPECT_EQ(schedule.peak, 0.5);
  EXPECT_EQ(schedule.warmup, 10);
}

}  // namespace
}  // namespace ablate::config
