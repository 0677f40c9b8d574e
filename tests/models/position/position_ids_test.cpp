#include <gtest/gtest.h>

#include "models/position/position.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/says.h"

namespace ablate::models {
namespace {

torch::Tensor trained(const PositionIds& position_ids, int64_t count, uint64_t seed) {
  return position_ids(torch::arange(count), {.training = true, .seed = seed});
}

torch::Tensor evaluated(const PositionIds& position_ids, int64_t count) {
  return position_ids(torch::arange(count), {});
}

bool increases_below(const torch::Tensor& numbers, int64_t range) {
  return numbers.diff().gt(0).all().item<bool>() && numbers[0].item<int64_t>() >= 0 &&
         numbers[-1].item<int64_t>() < range;
}

TEST(PositionIds, ConsecutiveOnesAreTheIndices) {
  const PositionIds position_ids(Consecutive{});
  EXPECT_TRUE(torch::equal(trained(position_ids, 7, 1), torch::arange(7)));
  EXPECT_TRUE(torch::equal(evaluated(position_ids, 7), torch::arange(7)));
}

TEST(PositionIds, RandomizedOnesAreASortedSubset) {
  const PositionIds position_ids(Randomized{.range = 50, .longest = 20});
  for (uint64_t seed = 1; seed < 30; ++seed)
    EXPECT_TRUE(increases_below(trained(position_ids, 12, seed), 50)) << seed;
  EXPECT_TRUE(increases_below(evaluated(position_ids, 20), 50));
  EXPECT_TRUE(torch::equal(trained(position_ids, 50, 1), torch::arange(50)));
}

TEST(PositionIds, EveryIdIsDrawnEquallyOften) {
  const PositionIds position_ids(Randomized{.range = 20, .longest = 20});
  auto counts = torch::zeros({20});
  constexpr int64_t kDraws = 4000;
  for (int64_t draw = 0; draw < kDraws; ++draw)
    counts.index_add_(0, trained(position_ids, 5, static_cast<uint64_t>(draw)), torch::ones({5}));
  // A quarter of 4,000 draws, five standard deviations of sqrt(4000 / 4 * 3 / 4) either way.
  EXPECT_LT((counts - 1000).abs().max().item<double>(), 5 * 27.4);
}

TEST(PositionIds, TheSeedOfThePassDecides) {
  const PositionIds position_ids(Randomized{.range = 1000, .longest = 20});
  EXPECT_TRUE(torch::equal(trained(position_ids, 12, 1), trained(position_ids, 12, 1)));
  EXPECT_FALSE(torch::equal(trained(position_ids, 12, 1), trained(position_ids, 12, 2)));
}

TEST(PositionIds, EvaluationGivesAnIndexOneIdInSequencesOfAnyLength) {
  const PositionIds position_ids(Randomized{.range = 1000, .longest = 20});
  EXPECT_TRUE(torch::equal(evaluated(position_ids, 20).slice(0, 0, 6), evaluated(position_ids, 6)));
}

TEST(PositionIds, TooLongIsAnErrorWithBothLengths) {
  const PositionIds position_ids(Randomized{.range = 50, .longest = 20});
  EXPECT_NO_THROW(position_ids.check(20, {}));
  EXPECT_NO_THROW(position_ids.check(50, {.training = true}));
  EXPECT_EQ(refusal_of<LengthError>([&] { position_ids.check(21, {}); }),
            "a sequence of 21 tokens is longer than the 20 randomized positions; raise "
            "model.position_ids.longest or shorten the input");
  EXPECT_THROW(position_ids.check(51, {.training = true}), LengthError);
}

/// Training passes see other positions each time; evaluation sees the same.
TEST(PositionIds, ATrainingPassMovesTheOutputs) {
  for (const auto& [name, options] : variants("position_ids")) {
    auto model = moved(options, 0.1);
    const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9, 10}});
    const auto run = [&](uint64_t seed) {
      return model->hidden(source, target, {.training = true, .seed = seed}).hidden;
    };
    EXPECT_EQ(largest_difference(run(1), run(1)), 0.0) << name;
    EXPECT_GT(largest_difference(run(1), run(2)), 1e-4) << name;
    EXPECT_EQ(largest_difference(model->forward(source, target), model->forward(source, target)),
              0.0)
        << name;
  }
}

}  // namespace
}  // namespace ablate::models
