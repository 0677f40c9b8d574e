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
                                            .at_once = {},
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
  EXPECT_TRUE(says(text, "gated  loss           3  0.012  1.00 k"));
  EXPECT_TRUE(says(text, "-0.020  [-0.030, -0.010]  [-0.050, 0.010]  undecided")) << text;
  EXPECT_TRUE(says(tabular(grid), "$-$0.020 & ")) << "LaTeX has no minus of Unicode";
  EXPECT_TRUE(says(text, "pooling takes 3"));
  EXPECT_TRUE(says(grid.note, "both are 97.5 % intervals, so that all 2 arms together have 95 %"));
  EXPECT_EQ(grid.rows[1].back().text, "-");
  auto far = pooled_arms();
  far.sizes.back() = 1e300;  // of --at
  EXPECT_EQ(together_grid(far).rows[1][4].text, "1e+300");
}

TEST(TogetherTable, DoesNotRoundAMeanToZeroBesideAnIntervalWithoutIt) {
  auto together = pooled_arms();
  together.arms.front().sizes.front().effect = {-0.0002, {-0.0003, -0.0001}, {-0.0005, -0.0001}};
  EXPECT_TRUE(says(layout(together_grid(together)), "-0.0002  [-0.0003, -0.0001]"));
  const auto forest = together_forest(together);
  EXPECT_TRUE(says(forest.panels.front().groups.front().rows.back().figures, "\u22120.0002 ["));
}

TEST(TogetherTable, IsDrawnWithItsPredictions) {
  const auto forest = together_forest(pooled_arms());
  ASSERT_EQ(forest.panels.size(), 1U) << "one metric";
  EXPECT_EQ(forest.panels.front().low_side, "loss: better");
  ASSERT_EQ(forest.panels.front().groups.size(), 2U);
  const auto& rows = forest.panels.front().groups.front().rows;
  ASSERT_EQ(rows.size(), 4U) << "three settings and one size";
  EXPECT_EQ(rows.front().name, "one, text (1.00 k)");
  EXPECT_EQ(rows.back().name, "predicted at 1.00 k");
  EXPECT_EQ(rows.back().interval->low, -0.05);
}

TEST(TogetherTable, HasTheClaimsThatWereDecidedAndTheRateOfFalseAlarms) {
  auto together = pooled_arms();
  EXPECT_TRUE(claims_grid(together).rows.empty());
  EXPECT_FALSE(says(together_grid(together).note, "control"));
  together.claims = {{.study = "one",
                      .setting = "text",
                      .arm = "gated",
                      .test_set = "",
                      .claim = config::ClaimKind::superior,
                      .outcome = analysis::Outcome::other_sign,
                      .p = 0.01,
                      .q = 0.02}};
  together.claims.push_back(together.claims.front());
  together.claims.back().p = together.claims.back().q = 1;
  together.false_alarms = {.controls = 20, .alarms = 1, .interval = {0.00127, 0.2487}};
  const auto grid = claims_grid(together);
  ASSERT_EQ(grid.rows.size(), 1U) << "the other one is undecided";
  EXPECT_TRUE(says(layout(grid), "one    text     gated  superior  other sign  0.010  0.020"));
  EXPECT_TRUE(says(grid.note, "Those that were decided, of 2."));
  together.claims.front().test_set = "length 12";
  EXPECT_EQ(claims_grid(together).rows[0][1].text, "text, length 12");
  EXPECT_TRUE(says(together_grid(together).note,
                   "Of 20 controls, baselines with other random numbers, 1 is shown to differ: "
                   "false alarms, whose rate is between 0.1 and 24.9 %"));
  const auto text = together_json(together);
  EXPECT_TRUE(says(text, "\"q\": 0.02"));
  EXPECT_TRUE(says(text, "\"alarms\": 1"));
}

TEST(TogetherTable, IsRecorded) {
  const auto text = together_json(pooled_arms());
  EXPECT_TRUE(says(text, "\"verdict\": \"undecided\""));
  EXPECT_TRUE(says(text, "\"no_verdict\": \"3 settings with some scatter; pooling takes 3\""));
}

}  // namespace
}  // namespace ablate::report
