#include "data/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace ablate::data {
namespace {

TEST(Random, IsSplitMix64) {  // the first outputs of its reference implementation for 1234567
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_EQ(random.next(), 9817491932198370423U);
}

TEST(Random, DrawsEveryNumberBelowABoundEquallyOften) {
  Random random(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts.at(static_cast<size_t>(random.below(7)));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(random.below(1), 0);
}

TEST(Random, PurposesAndIndicesHaveStreamsOfTheirOwn) {
  EXPECT_EQ(Random(1, "order", 2).next(), Random(1, "order", 2).next());
  EXPECT_NE(Random(1, "order", 2).next(), Random(1, "order", 3).next());
  EXPECT_NE(Random(1, "order", 2).next(), Random(1, "mask", 2).next());
  EXPECT_NE(Random(1, "order", 2).next(), Random(2, "order", 2).next());
}

TEST(Random, ShufflesWithoutLosingAnything) {
  std::vector<int> values(50);
  for (int i = 0; i < 50; ++i) values[static_cast<size_t>(i)] = i;
  auto shuffled = values;
  Random(1).shuffle(shuffled);
  EXPECT_NE(shuffled, values);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, values);
}

}  // namespace
}  // namespace ablate::data
