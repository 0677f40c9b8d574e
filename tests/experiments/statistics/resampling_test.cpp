#include "experiments/statistics/resampling.h"

#include <gtest/gtest.h>

#include <chrono>

namespace ablate::statistics {
namespace {

/// Sentences with one number each; the score of a corpus is their sum.
SentenceTable table(std::vector<int64_t> numbers) { return {1, std::move(numbers)}; }

double sum(std::span<const int64_t> numbers) { return static_cast<double>(numbers[0]); }

TEST(ApproximateRandomisation, ByHand) {
  // Three sentences that differ by 1: only all three on one side (2 of 8 patterns) reach the
  // observed 3, and none exceeds it. Of differences 3, 0, 1 and -1 four patterns of 16 exceed 3.
  const double floor = 1.0 / 10'001;
  EXPECT_EQ(approximate_randomisation_p(table({1, 1, 1}), table({0, 0, 0}), sum), floor);
  EXPECT_NEAR(approximate_randomisation_p(table({3, 0, 1, 0}), table({0, 0, 0, 1}), sum), 0.25,
              0.02);
}

TEST(ApproximateRandomisation, EqualSystemsHaveTheSmallestPAsInSacrebleu) {
  EXPECT_EQ(approximate_randomisation_p(table({5, 7}), table({5, 7}), sum), 1.0 / 10'001);
}

TEST(PairedBootstrap, ADifferenceOfEverySentenceIsClearAndOneOfASingleSentenceIsNot) {
  std::vector<int64_t> better(50, 3), same(50, 2), lucky(50, 2);
  lucky[0] = 52;
  EXPECT_EQ(paired_bootstrap_p(table(better), table(same), sum), 1.0 / 1'001);
  EXPECT_GT(paired_bootstrap_p(table(lucky), table(same), sum), 0.05);
}

TEST(Resampling, IsSymmetricInTheSystems) {
  const auto left = table({3, 1, 4, 1, 5, 9, 2, 6}), right = table({2, 7, 1, 8, 2, 8, 1, 8});
  EXPECT_EQ(paired_bootstrap_p(left, right, sum), paired_bootstrap_p(right, left, sum));
}

TEST(Resampling, AThousandSentencesTakeASecondNotMinutes) {
  constexpr size_t kWidth = 18;
  SentenceTable left{kWidth, std::vector<int64_t>(1000 * kWidth)}, right = left;
  for (size_t i = 0; i < left.numbers.size(); ++i) {
    left.numbers[i] = static_cast<int64_t>(i * 7 % 31);
    right.numbers[i] = static_cast<int64_t>(i * 11 % 29);
  }
  const auto start = std::chrono::steady_clock::now();
  paired_bootstrap_p(left, right, sum);
  approximate_randomisation_p(left, right, sum);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace ablate::statistics
