#include "models/position/numbering.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

torch::Tensor trained(const Numbering& numbering, int64_t count, uint64_t seed) {
  Dropout pass(0.1, seed);
  return numbering(torch::arange(count), pass);
}

torch::Tensor evaluated(const Numbering& numbering, int64_t count) {
  Dropout none;
  return numbering(torch::arange(count), none);
}

bool increases_below(const torch::Tensor& numbers, int64_t range) {
  return numbers.diff().gt(0).all().item<bool>() && numbers[0].item<int64_t>() >= 0 &&
         numbers[-1].item<int64_t>() < range;
}

TEST(Numbering, ConsecutivePlacesAreTheirOwnNumbers) {
  const Numbering numbering(Consecutive{});
  EXPECT_TRUE(torch::equal(trained(numbering, 7, 1), torch::arange(7)));
  EXPECT_TRUE(torch::equal(evaluated(numbering, 7), torch::arange(7)));
}

TEST(Numbering, RandomizedPlacesAreASortedSubset) {
  const Numbering numbering(Randomized{.range = 50, .longest = 20});
  for (uint64_t seed = 1; seed < 30; ++seed)
    EXPECT_TRUE(increases_below(trained(numbering, 12, seed), 50)) << seed;
  EXPECT_TRUE(increases_below(evaluated(numbering, 20), 50));
  EXPECT_TRUE(torch::equal(trained(numbering, 50, 1), torch::arange(50)));
}

TEST(Numbering, EveryNumberIsDrawnEquallyOften) {
  const Numbering numbering(Randomized{.range = 20, .longest = 20});
  auto counts = torch::zeros({20});
  constexpr int64_t kDraws = 4000;
  for (int64_t draw = 0; draw < kDraws; ++draw)
    counts.index_add_(0, trained(numbering, 5, static_cast<uint64_t>(draw)), torch::ones({5}));
  // A quarter of 4,000 draws, five standard deviations of sqrt(4000 / 4 * 3 / 4) either way.
  EXPECT_LT((counts - 1000).abs().max().item<double>(), 5 * 27.4);
}

TEST(Numbering, TheSeedOfThePassDecides) {
  const Numbering numbering(Randomized{.range = 1000, .longest = 20});
  EXPECT_TRUE(torch::equal(trained(numbering, 12, 1), trained(numbering, 12, 1)));
  EXPECT_FALSE(torch::equal(trained(numbering, 12, 1), trained(numbering, 12, 2)));
  Dropout pass(0.0, 1);
  const auto first = numbering(torch::arange(12), pass);
  EXPECT_FALSE(torch::equal(first, numbering(torch::arange(12), pass)));
}

TEST(Numbering, EvaluationNumbersAPlaceAlikeInSequencesOfAnyLength) {
  const Numbering numbering(Randomized{.range = 1000, .longest = 20});
  EXPECT_TRUE(torch::equal(evaluated(numbering, 20).slice(0, 0, 6), evaluated(numbering, 6)));
}

TEST(Numbering, TooLongIsAnErrorWithBothLengths) {
  Dropout none, pass(0.1, 1);
  const Numbering numbering(Randomized{.range = 50, .longest = 20});
  EXPECT_NO_THROW(numbering.check(20, none));
  EXPECT_NO_THROW(numbering.check(50, pass));
  try {
    numbering.check(21, none);
    FAIL();
  } catch (const LengthError& error) {
    EXPECT_STREQ(error.what(),
                 "a sequence of 21 pieces is longer than the 20 randomized positions; raise "
                 "model.numbering.longest or shorten the input");
  }
  EXPECT_THROW(numbering.check(51, pass), LengthError);
}

/// Training passes see other positions each time; evaluation sees the same.
TEST(Numbering, ATrainingPassMovesTheOutputs) {
  for (const auto& [name, options] : numbering_variants()) {
    auto model = make(options);
    for (auto& parameter : model->parameters()) {
      torch::NoGradGuard no_grad;
      parameter.add_(torch::randn_like(parameter) * 0.1);
    }
    const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9, 10}});
    const auto run = [&](uint64_t seed) {
      Dropout pass(0.0, seed);
      return model->hidden(source, target, pass);
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
