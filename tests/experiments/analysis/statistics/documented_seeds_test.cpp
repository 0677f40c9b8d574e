#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/power.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::statistics {
namespace {

/// The numbers in the row of docs/statistics.md that begins so.
std::vector<double> documented(const std::string& heading) {
  std::ifstream page(std::string(ABLATE_SOURCE) + "/docs/statistics.md");
  std::vector<double> numbers;
  for (std::string line, cell; std::getline(page, line);) {
    if (!line.starts_with("| " + heading + " |")) continue;
    std::istringstream cells(line.substr(heading.size() + 4));
    while (std::getline(cells, cell, '|')) numbers.push_back(std::stod(cell));
  }
  return numbers;
}

TEST(DocumentedSeeds, AreTheFewestThatCanShowSomething) {
  const auto comparisons = documented("comparisons in the family");
  const auto joint = documented("seeds to show a difference");
  const auto holm = documented("the same by Holm's method");
  const auto equivalence = documented("seeds to show equivalence");
  for (const auto* row : {&comparisons, &joint, &holm, &equivalence}) ASSERT_EQ(row->size(), 8U);
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const auto count = static_cast<int64_t>(comparisons[i]);
    EXPECT_EQ(joint[i], differences_needed(0.05, 1, smallest_sign_flip_p));
    EXPECT_EQ(holm[i], differences_needed(0.05, count, smallest_sign_flip_p));
    EXPECT_EQ(equivalence[i], differences_needed(0.05, count, smallest_equivalence_p));
  }
}

TEST(DocumentedSeeds, EffectsAreTheSmallestThatEachNumberCanSee) {
  for (const int64_t seeds : {6, 7, 8, 10, 12}) {
    const auto effects = documented(std::to_string(seeds) + " seeds");
    ASSERT_EQ(effects.size(), 4U);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(effects[i], detectable_size({seeds, int64_t{1} << i}).value(), 0.0051);
  }
}

}  // namespace
}  // namespace ablate::statistics
