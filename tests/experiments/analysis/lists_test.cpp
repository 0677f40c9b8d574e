#include "experiments/analysis/lists.h"

#include <gtest/gtest.h>

namespace ablate::analysis {
namespace {

using Words = std::vector<std::string>;

TEST(Lists, GroupsKeepTheOrderOfTheirFirstItems) {
  const Words words{"one", "three", "two", "seven"};
  const auto groups = grouped(words, [](const std::string& word) { return word.size(); });
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups[0], std::pair(size_t{3}, Words{"one", "two"}));
  EXPECT_EQ(groups[1], std::pair(size_t{5}, Words{"three", "seven"}));
}

TEST(Lists, AreEnumeratedWithAnAndBeforeTheLast) {
  EXPECT_EQ(enumerated(Words{}), "");
  EXPECT_EQ(enumerated(Words{"a"}), "a");
  EXPECT_EQ(enumerated(Words{"a", "b"}), "a and b");
  EXPECT_EQ(enumerated(Words{"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(enumerated(std::vector{1, 2}, [](int i) { return std::to_string(i); }), "1 and 2");
  EXPECT_EQ(listed(Words{"a", "b", "c"}), "a, b, c");
}

}  // namespace
}  // namespace ablate::analysis
