#include "experiments/analysis/statistics/resampling.h"

#include <gtest/gtest.h>

namespace ablate::statistics {
namespace {

/// Sentences with one number each; the score of a corpus is their sum.
SentenceTable table(std::vector<int64_t> numbers) { return {1, std::move(numbers)}; }

double sum(std::span<const int64_t> numbers) { return static_cast<double>(numbers[0]); }

double randomisation_p(const SentenceTable& left, const SentenceTable& right) {
  return Resampling(left.sentences()).randomisation_p(left, right, sum);
}

double bootstrap_p(const SentenceTable& left, const SentenceTable& right) {
  return Resampling(left.sentences()).bootstrap_p(left, right, sum);
}

TEST(ApproximateRandomisation, ByHand) {
  // Three sentences that differ by 1: only all three on one side (2 of 8 patterns) reach the
  // observed 3, and none exceeds it. Of differences 3, 0, 1 and -1 four patterns of 16 exceed 3.
  const double floor = 1.0 / 10'001;
  EXPECT_EQ(randomisation_p(table({1, 1, 1}), table({0, 0, 0})), floor);
  EXPECT_NEAR(randomisation_p(table({3, 0, 1, 0}), table({0, 0, 0, 1})), 0.25, 0.02);
}

TEST(ApproximateRandomisation, EqualSystemsHaveTheSmallestPAsInSacrebleu) {
  EXPECT_EQ(randomisation_p(table({5, 7}), table({5, 7})), 1.0 / 10'001);
}

TEST(PairedBootstrap, ADifferenceOfEverySentenceIsClearAndOneOfASingleSentenceIsNot) {
  std::vector<int64_t> better(50, 3), same(50, 2), lucky(50, 2);
  lucky[0] = 52;
  EXPECT_EQ(bootstrap_p(table(better), table(same)), 1.0 / 1'001);
  EXPECT_GT(bootstrap_p(table(lucky), table(same)), 0.05);
}

TEST(Resampling, IsSymmetricInTheSystems) {
  const auto left = table({3, 1, 4, 1, 5, 9, 2, 6}), right = table({2, 7, 1, 8, 2, 8, 1, 8});
  EXPECT_EQ(bootstrap_p(left, right), bootstrap_p(right, left));
}

}  // namespace
}  // namespace ablate::statistics
