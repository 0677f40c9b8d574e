#include <gtest/gtest.h>

#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

analysis::TaskEvidence crossed_task() {
  const analysis::SeedComponents base{.arm = "base",
                                      .test_set = "length 12",
                                      .metric = "exact_match",
                                      .initializations = 4,
                                      .orders = 4,
                                      .initialization = 0.2,
                                      .order = 0.1,
                                      .rest = 0.05,
                                      .error = 0.112,
                                      .own_error = 0.057,
                                      .best_initializations = 8,
                                      .best_orders = 2,
                                      .best_error = 0.101,
                                      .sentence = "Of base."};
  auto arm = base;
  arm.arm = "a";
  arm.difference = true;
  arm.sentence = "Of a.";
  return {.name = "copy", .components = {base, arm}};
}

TEST(ComponentGrid, HasARowForValuesAndForDifferences) {
  const auto grid = component_grid(crossed_task());
  EXPECT_EQ(grid.title, "copy: components of variance of exact match");
  ASSERT_EQ(grid.rows.size(), 2U);
  EXPECT_TRUE(grid.note.ends_with(" Of base. Of a."));
  std::vector<std::string> texts;
  for (const auto& cell : grid.rows[1]) texts.push_back(cell.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"a", "length 12", "difference", "0.200", "0.100",
                                             "0.050", "0.112", "0.057", "8 x 2"}));
  EXPECT_EQ(grid.rows[0][2].text, "value");
  EXPECT_EQ(grid.columns[6].qualifier, "4 x 4");
}

TEST(ComponentGrid, OfAStudyWhoseSeedsAreNotCrossedHasNoRow) {
  EXPECT_TRUE(component_grid({.name = "copy"}).rows.empty());
}

}  // namespace
}  // namespace ablate::report
