#include "training/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace ablate::training {
namespace {

TEST(Schedule, InverseSquareRootIsThePapersFormula) {
  const double d_model = 512;
  const int64_t warmup = 4000;
  const ScheduleOptions schedule =
      InverseSquareRoot{{.peak = 1 / std::sqrt(d_model * 4000.0), .warmup = warmup}};
  for (const int64_t step : {1, 100, 3999, 4000, 4001, 100'000}) {
    const auto s = static_cast<double>(step);
    const double paper =
        std::pow(d_model, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(4000.0, -1.5));
    EXPECT_NEAR(learning_rate(schedule, step, 100'000) / paper, 1.0, 1e-12) << step;
  }
}

TEST(Schedule, EveryScheduleRisesLinearlyToItsPeak) {
  const Warmup warmup{.peak = 0.8, .warmup = 8};
  for (const ScheduleOptions& schedule :
       {ScheduleOptions{Constant{warmup}}, ScheduleOptions{InverseSquareRoot{warmup}},
        ScheduleOptions{Cosine{{warmup}}}, ScheduleOptions{Linear{{warmup}}},
        ScheduleOptions{Stable{{warmup}}}}) {
    EXPECT_DOUBLE_EQ(learning_rate(schedule, 2, 100), 0.2);
    EXPECT_DOUBLE_EQ(learning_rate(schedule, 8, 100), 0.8);
    EXPECT_DOUBLE_EQ(learning_rate(schedule, 8, 8), 0.8);
  }
}

TEST(BatchWarmup, RisesEvenlyFromOneBatchToAll) {
  const TrainingOptions options{.accumulate = 4, .batch_warmup = {.share = 0.5}};
  const std::map<int64_t, int64_t> expected{{1, 1},  {12, 1}, {13, 2}, {25, 2}, {26, 3},
                                            {37, 3}, {38, 4}, {50, 4}, {100, 4}};
  for (const auto& [step, batches] : expected)
    EXPECT_EQ(batches_at(options, {step, 100}), batches) << step;
  double sum = 0;
  for (int64_t step = 1; step <= 100; ++step)
    sum += static_cast<double>(batches_at(options, {step, 100}));
  EXPECT_NEAR(mean_batches(options), sum / 100, 0.02);
  for (const int64_t step : {1, 100})
    EXPECT_EQ(batches_at({.accumulate = 4}, {step, 100}), 4) << step;
}

TEST(LengthWarmup, RisesEvenlyFromTheShortestRowsToWholeOnes) {
  const TrainingOptions options{.length_warmup = {.share = 0.5, .shortest = 8}};
  const std::map<double, int64_t> expected{{0, 8}, {0.125, 22}, {0.25, 36}, {0.499, 63}, {0.5, 64}};
  for (const auto& [progress, length] : expected)
    EXPECT_EQ(row_length_at(options, {1, 1, progress}, 64), length) << progress;
  EXPECT_EQ(row_length_at(options, {1, 1}, 5), 5) << "no row is made longer";
  EXPECT_EQ(row_length_at({}, {1, 1}, 64), 64);
}

TEST(Schedule, CosineAndLinearEndAtTheirFloor) {
  const Decay decay{{.peak = 1.0, .warmup = 10}, 0.1};
  EXPECT_NEAR(learning_rate(Cosine{decay}, 110, 110), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate(Linear{decay}, 110, 110), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate(Cosine{decay}, 60, 110), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate(Linear{decay}, 60, 110), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate(Linear{decay}, 35, 110), 0.775, 1e-12);
}

TEST(Schedule, StableStaysAtItsPeakUntilItFallsInItsShape) {
  const Decay decay{{.peak = 1.0, .warmup = 10}, 0.01};
  for (const auto& [shape, middle] : {std::pair{DecayShape::linear, 0.505},
                                      {DecayShape::square_root, 0.01 + 0.99 * (1 - std::sqrt(0.5))},
                                      {DecayShape::exponential, 0.1}}) {
    const Stable stable{decay, 0.4, shape};
    EXPECT_DOUBLE_EQ(learning_rate(stable, 11, 100), 1.0);
    EXPECT_DOUBLE_EQ(learning_rate(stable, 60, 100), 1.0);
    EXPECT_LT(learning_rate(stable, 61, 100), 1.0);
    EXPECT_NEAR(learning_rate(stable, 80, 100), middle, 1e-12);
    EXPECT_NEAR(learning_rate(stable, 100, 100), 0.01, 1e-12);
  }
}

TEST(Schedule, StableFallsFromTheEndOfAWarmUpThatTakesLonger) {
  const Stable stable{{{.peak = 1.0, .warmup = 50}}, 0.8, DecayShape::linear};
  EXPECT_DOUBLE_EQ(learning_rate(stable, 50, 100), 1.0);
  EXPECT_NEAR(learning_rate(stable, 75, 100), 0.5, 1e-12);
  EXPECT_NEAR(learning_rate(stable, 100, 100), 0.0, 1e-12);
  EXPECT_DOUBLE_EQ(learning_rate(Stable{{{.peak = 1.0, .warmup = 50}}}, 50, 50), 1.0);
}

TEST(Schedule, ConstantStaysAtItsPeak) {
  EXPECT_DOUBLE_EQ(learning_rate(Constant{{.peak = 0.5, .warmup = 0}}, 1, 10), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(Constant{{.peak = 0.5, .warmup = 0}}, 10, 10), 0.5);
}

}  // namespace
}  // namespace ablate::training
