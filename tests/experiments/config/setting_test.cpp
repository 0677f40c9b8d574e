#include "experiments/config/study/setting.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

using Names = std::vector<std::string>;

const std::string kTwoArms = kBase + "arms: {x: {}, y: {model.bias: false}}\n";
const std::string kSizes = "sizes: {small: {model.layers: 1}, large: {model.layers: 3}}\n";

TEST(Setting, EveryTaskIsRunInEverySizeAtEveryPointOfTheGrid) {
  const auto study = study_of(kTwoArms + kSizes + "grid: {model.d_model: [64, 128]}\n");
  EXPECT_EQ(study.tasks, (Names{"copy-small-d_model=64", "copy-small-d_model=128",
                                "copy-large-d_model=64", "copy-large-d_model=128"}));
  EXPECT_EQ(study.arms, (Names{"x", "y"}));
  const auto& last = study.settings.back();
  EXPECT_EQ(last.task, "copy");
  EXPECT_EQ(last.size, "large");
  EXPECT_EQ(last.grid, (std::vector<GridPoint>{{"model.d_model", "128"}}));
  const auto& run = study.runs.back();
  EXPECT_EQ(run.task + "/" + run.arm, "copy-large-d_model=128/y");
  EXPECT_EQ(run.experiment.model.layers, 3);
  EXPECT_EQ(run.experiment.model.d_model, 128);
}

TEST(Setting, AStudyWithoutSizesAndGridHasOneForEachTask) {
  const auto study = study_of(kTwoArms);
  ASSERT_EQ(study.settings.size(), 1U);
  EXPECT_EQ(study.settings.front().name, "copy");
  EXPECT_EQ(study.settings.front().task, "copy");
}

TEST(Setting, KeysOfAGridAreAsShortAsTheyAreDistinct) {
  const auto study = study_of(kTwoArms +
                              "grid: {model.dropout: [0.1], model.feed_forward.d_hidden: [32], "
                              "tokenizer.dropout: [0], training.schedule.peak: [4.0e-3]}\n");
  EXPECT_EQ(study.tasks,
            Names{"copy-model.dropout=0.1-d_hidden=32-tokenizer.dropout=0-peak=0.004"});
}

TEST(Setting, ALargeNumberHasAnotherNameThanASmallOne) {
  EXPECT_EQ(study_of(kTwoArms + "grid: {training.max_grad_norm: [1.0e+30, 1.0e-30]}\n").tasks,
            (Names{"copy-max_grad_norm=1e30", "copy-max_grad_norm=1e-30"}));
}

TEST(Setting, TheNameOfATaskSelectsAllItsSettingsAndASizeThoseInIt) {
  const auto yaml = kHead + "tasks: {copy: {data.task: copy}, sort: {data.task: sort}}\n" + kSizes;
  EXPECT_EQ(study_of(yaml, {.tasks = {"sort"}}).tasks, (Names{"sort-small", "sort-large"}));
  EXPECT_EQ(study_of(yaml, {.tasks = {"sort-large", "copy"}}).tasks,
            (Names{"copy-small", "copy-large", "sort-large"}));
  EXPECT_EQ(study_of(yaml, {.sizes = {"large"}}).tasks, (Names{"copy-large", "sort-large"}));
  EXPECT_EQ(study_of(yaml, {.tasks = {"copy"}, .sizes = {"large"}}).settings.size(), 1U);
}

TEST(Setting, WhatIsDeclaredForATaskHoldsInAllItsSettings) {
  const auto study =
      study_of(kTwoArms + kSizes +
               "tasks: {copy: {data.task: copy}, sort: {data.task: sort}}\n"
               "compare: {baseline: x, metric: bleu, metrics: {copy: exact_match}, test_sets: "
               "{copy: [length 12]}}\n");
  EXPECT_EQ(metric_of(*study.compare, "copy-large"), "exact_match");
  EXPECT_EQ(study.compare->test_sets.at("copy-small"), Names{"length 12"});
}

TEST(Setting, AnExpectationNamesOneSetting) {
  const auto yaml = kTwoArms + kSizes;
  EXPECT_EQ(study_of(yaml + "expect: ['copy-large: x.bleu < y.bleu']\n").expect.front().task,
            "copy-large");
}

}  // namespace
}  // namespace ablate::config
