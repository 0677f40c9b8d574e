#include "experiments/analysis/statistics/components.h"

#include <gtest/gtest.h>

#include <random>

namespace ablate::statistics {
namespace {

TEST(Components, ByHand) {
  // Means of rows 1.5 and 4.5, of columns 2 and 4, of all 3; each value is 0.5 off their sum. The
  // mean squares are 9, 4 and 1.
  const auto found = components_of({{1, 2}, {3, 6}});
  EXPECT_NEAR(found.rows, (9 - 1) / 2.0, 1e-12);
  EXPECT_NEAR(found.columns, (4 - 1) / 2.0, 1e-12);
  EXPECT_NEAR(found.rest, 1, 1e-12);
  EXPECT_NEAR(found.of_mean(2, 2), 4 / 2.0 + 1.5 / 2 + 1 / 4.0, 1e-12);
}

/// Six targets, each rated by the same four judges: the table of Shrout and Fleiss (1979,
/// Psychological Bulletin 86:420), whose mean squares are 11.24, 32.49 and 1.02, and whose
/// correlation of two judges, ICC(2, 1), is 0.29.
TEST(Components, ThatShroutAndFleissPublished) {
  const auto found = components_of(
      {{9, 2, 5, 8}, {6, 1, 3, 2}, {8, 4, 6, 8}, {7, 1, 2, 6}, {10, 5, 6, 9}, {6, 2, 4, 7}});
  EXPECT_NEAR(4 * found.rows + found.rest, 11.24, 0.005);
  EXPECT_NEAR(6 * found.columns + found.rest, 32.49, 0.005);
  EXPECT_NEAR(found.rest, 1.02, 0.005);
  EXPECT_NEAR(found.rows / found.total(), 0.29, 0.005);
}

TEST(Components, AreNotNegative) {
  const auto found = components_of({{1, 2}, {2, 1}});
  EXPECT_EQ(found.rows, 0);
  EXPECT_EQ(found.columns, 0);
  EXPECT_NEAR(found.rest, 1, 1e-12);
}

TEST(Components, AreOnAverageThoseThatTheValuesWereDrawnWith) {
  std::mt19937 draw(1);
  std::normal_distribution<double> normal;
  constexpr int kTables = 4000;
  Components sum;
  for (int i = 0; i < kTables; ++i) {
    std::vector<std::vector<double>> table(5, std::vector<double>(3));
    std::vector<double> columns(3);
    for (auto& column : columns) column = normal(draw);
    for (auto& row : table) {
      const double effect = 3 * normal(draw);
      for (size_t j = 0; j < row.size(); ++j) row[j] = effect + columns[j] + 0.5 * normal(draw);
    }
    const auto found = components_of(table);
    sum.rows += found.rows / kTables;
    sum.columns += found.columns / kTables;
    sum.rest += found.rest / kTables;
  }
  EXPECT_NEAR(sum.rows, 9, 0.4);
  EXPECT_NEAR(sum.columns, 1, 0.06);
  EXPECT_NEAR(sum.rest, 0.25, 0.01);
}

TEST(Components, SayHowManyRowsAndColumnsAreBest) {
  EXPECT_EQ(best_size({.rows = 4, .columns = 1, .rest = 1}, {4, 4}), (TableSize{8, 2}));
  EXPECT_EQ(best_size({.rows = 1, .columns = 4, .rest = 1}, {4, 4}), (TableSize{2, 8}));
  EXPECT_EQ(best_size({.rows = 1, .columns = 1, .rest = 1}, {2, 8}), (TableSize{4, 4}));
  EXPECT_EQ(best_size({.rows = 0, .columns = 0, .rest = 1}, {2, 8}), (TableSize{2, 8}))
      << "all are alike";
  EXPECT_EQ(best_size({.rows = 9, .columns = 0, .rest = 1}, {5, 1}), (TableSize{5, 1}));
}

}  // namespace
}  // namespace ablate::statistics
