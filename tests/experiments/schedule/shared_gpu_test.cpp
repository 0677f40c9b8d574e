#include "experiments/schedule/shared_gpu.h"

#include <gtest/gtest.h>

namespace ablate::schedule {
namespace {

config::RunSpecification run_of(const std::string& arm, int64_t seed) {
  return {.task = "task", .arm = arm, .seed = seed, .experiment = {}};
}

TEST(SharedGpu, AnArmIsMeasuredAloneAndThenSharesWhatIsLeft) {
  SharedGpu gpu;
  const auto first = run_of("a", 1), second = run_of("a", 2), third = run_of("a", 3);
  ASSERT_TRUE(gpu.has_room(first));
  gpu.start(first);
  EXPECT_FALSE(gpu.has_room(second)) << "what the first one takes is not known";
  gpu.end(first, {.needed = 4, .total = 10});
  gpu.start(second);
  EXPECT_TRUE(gpu.has_room(third));
  EXPECT_FALSE(gpu.has_room(run_of("b", 1))) << "nobody knows what it takes";
  gpu.start(third);
  EXPECT_FALSE(gpu.has_room(run_of("a", 4))) << "12 of 10";
  gpu.end(second, {.needed = 8, .total = 10});  // with the third
  EXPECT_TRUE(gpu.has_room(run_of("a", 4))) << "8 of 10";
}

TEST(SharedGpu, WhatOneArmTakesSaysNothingOfAnother) {
  SharedGpu gpu;
  gpu.start(run_of("a", 1));
  gpu.end(run_of("a", 1), {.needed = 2, .total = 10});
  gpu.start(run_of("b", 1));
  EXPECT_FALSE(gpu.has_room(run_of("a", 2)));
  gpu.end(run_of("b", 1), {.needed = 7, .total = 10});
  gpu.start(run_of("b", 2));
  EXPECT_TRUE(gpu.has_room(run_of("a", 2))) << "9 of 10";
  EXPECT_FALSE(gpu.has_room(run_of("b", 3))) << "14 of 10";
}

TEST(SharedGpu, BehindARunThatReportsNothingTheNextIsAlone) {
  SharedGpu gpu;
  gpu.start(run_of("a", 1));
  gpu.end(run_of("a", 1), {.needed = 2, .total = 10});
  gpu.start(run_of("a", 2));
  gpu.start(run_of("a", 3));
  gpu.end(run_of("a", 2), {});
  EXPECT_FALSE(gpu.has_room(run_of("a", 2)));
  gpu.end(run_of("a", 3), {.needed = 3, .total = 10});
  gpu.start(run_of("a", 2));
  EXPECT_TRUE(gpu.has_room(run_of("a", 4)));
}

TEST(SharedGpu, ARunThatFillsItMayRunAlone) {
  SharedGpu gpu;
  gpu.start(run_of("a", 1));
  gpu.end(run_of("a", 1), {.needed = 11, .total = 10});
  EXPECT_TRUE(gpu.has_room(run_of("a", 2)));
  gpu.start(run_of("a", 2));
  EXPECT_FALSE(gpu.has_room(run_of("a", 3)));
}

}  // namespace
}  // namespace ablate::schedule
