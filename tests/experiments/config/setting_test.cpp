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

TEST(Setting, OneValueInTwoSpellingsIsOnePoint) {
  EXPECT_EQ(messages_of(kTwoArms + "grid: {training.schedule.peak: [0.004, 4.0e-3]}\n"),
            "study.yaml:6:40: the grid names two points 'peak=0.004'");
}

TEST(Setting, TheNameOfATaskSelectsAllItsSettingsAndASizeThoseInIt) {
  const auto yaml = kHead + "tasks: {copy: {data.task: copy}, sort: {data.task: sort}}\n" + kSizes;
  EXPECT_EQ(study_of(yaml, {.tasks = {"sort"}}).tasks, (Names{"sort-small", "sort-large"}));
  EXPECT_EQ(study_of(yaml, {.tasks = {"sort-large", "copy"}}).tasks,
            (Names{"copy-small", "copy-large", "sort-large"}));
  EXPECT_EQ(study_of(yaml, {.sizes = {"large"}}).tasks, (Names{"copy-large", "sort-large"}));
  EXPECT_EQ(study_of(yaml, {.tasks = {"copy"}, .sizes = {"large"}}).settings.size(), 1U);
  EXPECT_EQ(messages_of(yaml, {.tasks = {"copy-small"}, .sizes = {"large"}}),
            "--sizes:1:1: --tasks and --sizes name no setting together");
  EXPECT_EQ(messages_of(yaml, {.sizes = {"lage"}}),
            "--sizes:1:1: unknown size 'lage'; did you mean 'large'?");
}

TEST(Setting, WhatIsDeclaredForATaskHoldsInAllItsSettings) {
  const auto study =
      study_of(kTwoArms + kSizes +
               "compare: {baseline: x, metric: bleu, metrics: {copy: exact_match}, test_sets: "
               "{copy: [length 12]}}\n");
  EXPECT_EQ(metric_of(*study.compare, "copy-large"), "exact_match");
  EXPECT_EQ(study.compare->test_sets.at("copy-small"), Names{"length 12"});
}

TEST(Setting, AnExpectationNamesOneSetting) {
  const auto yaml = kTwoArms + kSizes;
  EXPECT_EQ(study_of(yaml + "expect: ['copy-large: x.bleu < y.bleu']\n").expect.front().task,
            "copy-large");
  EXPECT_EQ(messages_of(yaml + "expect: ['copy: x.bleu < y.bleu']\n"),
            "study.yaml:7:11: 'copy' is run in several settings; name one: copy-small or "
            "copy-large");
  EXPECT_EQ(messages_of(yaml + "expect: ['x.bleu < y.bleu']\n"),
            "study.yaml:7:11: name the task: copy-small or copy-large");
}

TEST(Setting, SizesThatCoincideAreRefused) {
  EXPECT_EQ(
      messages_of(kTwoArms + "sizes:\n  small: {model.layers: 1}\n  same: {model.layers: 1}\n"),
      "study.yaml:8:3: the sizes 'small' and 'same' coincide: copy/x has the same "
      "configuration in both; change one, or take out what hides their difference");
  EXPECT_EQ(messages_of(kBase + "arms: {x: {}, y: {model.layers: 2}}\n" + kSizes),
            "study.yaml:6:35: the sizes 'small' and 'large' coincide: copy/y has the same "
            "configuration in both; change one, or take out what hides their difference");
}

TEST(Setting, NothingMayHideAValueOfTheGrid) {
  EXPECT_EQ(messages_of(kTwoArms + "grid: {model.bias: [true, false]}\n"),
            "study.yaml:5:15: the arm 'y' sets model.bias, which the grid varies; remove one of "
            "the two");
  EXPECT_EQ(messages_of(kTwoArms + kSizes + "grid: {model.layers: [1, 2]}\n"),
            "study.yaml:6:9: the size 'small' sets model.layers, which the grid varies; remove "
            "one of the two\n"
            "study.yaml:6:35: the size 'large' sets model.layers, which the grid varies; remove "
            "one of the two");
  EXPECT_EQ(messages_of(kTwoArms + "grid: {model.layers: [1, 2]}\n", {.sets = {"model.layers=3"}}),
            "--set:1:1: --set cannot give model.layers, which the study varies itself");
}

TEST(Setting, TwoSettingsNeedTwoNames) {
  EXPECT_EQ(messages_of(kHead + "tasks: {copy: {data.task: copy}, copy-small: {data.task: copy}}\n"
                                "sizes: {small: {model.layers: 1}}\n"),
            "study.yaml:4:9: tasks, sizes and grid name two settings 'copy-small'; rename a task "
            "or a size");
}

}  // namespace
}  // namespace ablate::config
