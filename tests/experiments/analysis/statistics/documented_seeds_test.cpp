#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/significance.h"

namespace ablate::statistics {
namespace {

/// The numbers in the row of docs/statistics.md that begins so.
std::vector<int64_t> documented(const std::string& heading) {
  std::ifstream page(std::string(ABLATE_SOURCE) + "/docs/statistics.md");
  std::vector<int64_t> numbers;
  for (std::string line, cell; std::getline(page, line);) {
    if (!line.starts_with("| " + heading + " |")) continue;
    std::istringstream cells(line.substr(heading.size() + 4));
    while (std::getline(cells, cell, '|')) numbers.push_back(std::stoll(cell));
  }
  return numbers;
}

TEST(DocumentedSeeds, AreTheFewestThatCanShowSomething) {
  const auto comparisons = documented("comparisons in the family");
  const auto differences = documented("seeds to show a difference");
  const auto equivalence = documented("seeds to show equivalence");
  ASSERT_EQ(comparisons.size(), 8U);
  ASSERT_EQ(differences.size(), 8U);
  ASSERT_EQ(equivalence.size(), 8U);
  for (size_t i = 0; i < comparisons.size(); ++i) {
    EXPECT_EQ(differences[i], differences_needed(0.05, comparisons[i], smallest_sign_flip_p));
    EXPECT_EQ(equivalence[i], differences_needed(0.05, comparisons[i], smallest_equivalence_p));
  }
}

}  // namespace
}  // namespace ablate::statistics
