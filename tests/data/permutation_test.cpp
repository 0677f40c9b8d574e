#include "data/permutation.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ablate::data {
namespace {

TEST(Permutation, HasEveryNumberOnce) {
  for (const int64_t count : {1, 2, 3, 4, 5, 16, 17, 1000, 4096}) {
    const Permutation order(count, Random(7));
    std::set<int64_t> seen;
    for (int64_t place = 0; place < count; ++place) seen.insert(order(place));
    EXPECT_EQ(std::ssize(seen), count);
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), count - 1);
  }
}

/// Each of the 24 orders of four numbers, over 24,000 seeds: 1,000 on average, with a standard
/// deviation of 31.
TEST(Permutation, IsUniform) {
  std::map<std::vector<int64_t>, int> counts;
  for (uint64_t seed = 0; seed < 24'000; ++seed) {
    const Permutation order(4, Random(seed));
    ++counts[{order(0), order(1), order(2), order(3)}];
  }
  EXPECT_EQ(counts.size(), 24U);
  for (const auto& [order, count] : counts) {
    EXPECT_GT(count, 845);
    EXPECT_LT(count, 1155);
  }
}

}  // namespace
}  // namespace ablate::data
