#include "experiments/config/study/setting.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

using Names = std::vector<std::string>;

const std::string kTwoArms = kBase + "arms: {x: {}, y: {model.bias: false}}\n";
const std::string kSizes = "sizes: {small: {model.layers: 1}, large: {model.layers: 3}}\n";

TEST(Setting, KnowsItsTaskItsSizeAndItsPointOfTheGrid) {
  const auto study = study_of(kTwoArms + kSizes + "grid: {model.d_model: [64, 128]}\n");
  const auto& last = study.settings.back();
  EXPECT_EQ(last.task, "copy");
  EXPECT_EQ(last.size, "large");
  EXPECT_EQ(last.grid, (std::vector<GridPoint>{{"model.d_model", "128"}}));
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
