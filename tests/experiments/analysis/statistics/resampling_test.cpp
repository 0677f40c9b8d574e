#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "experiments/analysis/statistics/corpus_test.h"

namespace ablate::statistics {
namespace {

/// Sentences with one number each; the score of a corpus is their sum.
SentenceTable table(std::vector<int64_t> numbers) { return {1, std::move(numbers)}; }

double sum(std::span<const int64_t> numbers) { return static_cast<double>(numbers[0]); }

/// Five standard deviations of a p from so many trials.
double noise(double p, int64_t trials) {
  return 5 * std::sqrt(p * (1 - p) / static_cast<double>(trials));
}

constexpr int64_t kMany = 100'000;

TEST(ApproximateRandomisation, ByHand) {
  // Three sentences that differ by 1: only all three on one side (2 of 8 patterns) reach the
  // observed 3, and none exceeds it. Of differences 3, 0, 1 and -1 four patterns of 16 exceed 3.
  const double floor = 1.0 / 10'001;
  EXPECT_EQ(randomisation_p(table({1, 1, 1}), table({0, 0, 0}), sum), floor);
  EXPECT_NEAR(randomisation_p(table({3, 0, 1, 0}), table({0, 0, 0, 1}), sum, kMany), 0.25,
              noise(0.25, kMany));
}

TEST(ApproximateRandomisation, EqualSystemsHaveTheSmallestPAsInSacrebleu) {
  EXPECT_EQ(randomisation_p(table({5, 7}), table({5, 7}), sum), 1.0 / 10'001);
}

/// Three sentences have 27 resamples, all equally likely.
TEST(PairedBootstrap, IsTheShareOfAllResamplesOfThreeSentences) {
  for (const auto& differences :
       {std::vector<int64_t>{0, 1, 5}, {-2, 1, 4}, {3, 3, -5}, {0, 0, 7}, {-1, 1, 2}}) {
    std::vector<double> sizes;  // of the difference of every resample
    for (const auto a : differences)
      for (const auto b : differences)
        for (const auto c : differences) sizes.push_back(std::abs(static_cast<double>(a + b + c)));
    const double centre = std::accumulate(sizes.begin(), sizes.end(), 0.0) / 27;
    const double observed =
        std::abs(static_cast<double>(differences[0] + differences[1] + differences[2]));
    double exact = 0;
    for (const double size : sizes) exact += size - centre > observed ? 1.0 / 27 : 0;
    EXPECT_NEAR(bootstrap_p(table(differences), table({0, 0, 0}), sum, kMany), exact,
                noise(exact, kMany) + 1.0 / kMany)
        << differences[0];
  }
}

TEST(PairedBootstrap, ByHand) {
  // Of 0, 0 and 7 a resample holds the 7 never in 8, once in 12, twice in 6 and thrice in 1 of 27
  // cases. Its sum is 7 on average, and exceeds that by more than the observed 7 in the last alone.
  EXPECT_NEAR(bootstrap_p(table({0, 0, 7}), table({0, 0, 0}), sum, kMany), 1.0 / 27,
              noise(1.0 / 27, kMany));
}

TEST(PairedBootstrap, ADifferenceOfEverySentenceIsClearAndOneOfASingleSentenceIsNot) {
  std::vector<int64_t> better(50, 3), same(50, 2), lucky(50, 2);
  lucky[0] = 52;
  EXPECT_EQ(bootstrap_p(table(better), table(same), sum), 1.0 / 1'001);
  EXPECT_GT(bootstrap_p(table(lucky), table(same), sum), 0.05);
}

TEST(Resampling, IsSymmetricInTheSystemsAndTheSameEveryTime) {
  const auto left = table({3, 1, 4, 1, 5, 9, 2, 6}), right = table({2, 7, 1, 8, 2, 8, 1, 8});
  EXPECT_EQ(bootstrap_p(left, right, sum), bootstrap_p(right, left, sum));
  EXPECT_EQ(bootstrap_p(left, right, sum), bootstrap_p(left, right, sum));
  EXPECT_EQ(randomisation_p(left, right, sum), randomisation_p(left, right, sum));
}

}  // namespace
}  // namespace ablate::statistics
