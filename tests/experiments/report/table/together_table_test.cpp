#include <gtest/gtest.h>

#include "experiments/report/table/layout.h"
#include "experiments/report/table/together.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

/// Two arms of three settings; the second one has too few.
analysis::Together pooled_arms() {
  analysis::Together together{.arms = {}, .sizes = {1000, 20'000}, .confidence = 0.975};
  analysis::PooledArm arm{
      .arm = "gated", .metric = "loss", .direction = analysis::Direction::lower};
  arm.margin = 0.01;
  for (const char* study : {"one", "two", "three"})
    arm.settings.push_back({.study = study,
                            .setting = "text",
                            .parameters = 1000,
                            .tokens_per_parameter = 10,
                            .differences = {.values = {-0.03, -0.01},
                                            .count = 2,
                                            .mean = -0.02,
                                            .deviation = 0.01,
                                            .interval = {},
                                            .censored = {},
                                            .collapsed = {}}});
  arm.studies = 3;
  arm.tau = 0.012;
  arm.sizes = {{1000, {-0.02, {-0.03, -0.01}, {-0.05, 0.01}}, analysis::PooledVerdict::undecided}};
  together.arms.push_back(arm);
  arm.arm = "tied";
  arm.sizes.clear();
  arm.no_verdict = "3 settings with some scatter; pooling takes 3";
  together.arms.push_back(arm);
  return together;
}

TEST(TogetherTable, HasARowForEachSizeAndADashWhereItIsTooFar) {
  const auto grid = together_grid(pooled_arms());
  ASSERT_EQ(grid.rows.size(), 3U);
  const auto text = layout(grid);
  EXPECT_TRUE(says(text, "gated  loss           3  0.012   1 k"));
  EXPECT_TRUE(says(text, "[-0.050, 0.010]  undecided"));
  EXPECT_TRUE(says(text, "pooling takes 3"));
  EXPECT_TRUE(says(grid.note, "both are 97.5 % intervals, so that all 2 arms together have 95 %"));
  EXPECT_EQ(grid.rows[1].back().text, "-");
}

TEST(TogetherTable, IsDrawnWithItsPredictions) {
  const auto forest = together_forest(pooled_arms());
  ASSERT_EQ(forest.panels.size(), 1U) << "one metric";
  EXPECT_EQ(forest.panels.front().low_side, "loss: better");
  ASSERT_EQ(forest.panels.front().groups.size(), 2U);
  const auto& rows = forest.panels.front().groups.front().rows;
  ASSERT_EQ(rows.size(), 4U) << "three settings and one size";
  EXPECT_EQ(rows.front().name, "one, text (1 k)");
  EXPECT_EQ(rows.back().name, "predicted at 1 k");
  EXPECT_EQ(rows.back().interval->low, -0.05);
}

TEST(TogetherTable, IsRecorded) {
  const auto text = together_json(pooled_arms());
  EXPECT_TRUE(says(text, "\"verdict\": \"undecided\""));
  EXPECT_TRUE(says(text, "\"no_verdict\": \"3 settings with some scatter; pooling takes 3\""));
}

}  // namespace
}  // namespace ablate::report
