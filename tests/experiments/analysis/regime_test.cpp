#include "experiments/analysis/regime.h"

#include <gtest/gtest.h>

namespace ablate::analysis {
namespace {

using Words = std::vector<std::string>;

config::RegimeOptions depth(double low, double high) {
  config::RegimeOptions regime;
  regime.depth = config::Range{low, high};
  return regime;
}

TEST(Regime, IsMissedByMoreThanAFactorOfFour) {
  EXPECT_EQ(outside(depth(8, 24), depth(2, 2)), Words{});
  EXPECT_EQ(outside(depth(12, 24), depth(2, 2)), Words{"depth 2, in the source 12 to 24"});
  EXPECT_EQ(outside(depth(1, 1), depth(4, 4)), Words{});
  EXPECT_EQ(outside(depth(1, 1), depth(6, 6)), Words{"depth 6, in the source 1"});
}

TEST(Regime, ThatEitherSideDoesNotKnowDecidesNothing) {
  EXPECT_EQ(outside(depth(12, 24), {}), Words{});
  EXPECT_EQ(outside({}, depth(2, 2)), Words{});
}

TEST(Regime, OfARunIsThatOfItsModelAndOfTheTextThatItRead) {
  config::Experiment experiment;
  experiment.model.d_model = 32;
  experiment.model.encoder_layers = 3;
  experiment.model.decoder_layers = 1;
  records::RunResult run{.parameters = 1000, .tokens = 6000, .text_tokens = 4000};
  run.longest_sequence = 12;
  const auto read_twice = regime_of(experiment, run);
  EXPECT_EQ(read_twice.depth, (config::Range{3, 3}));
  EXPECT_EQ(read_twice.width, (config::Range{32, 32}));
  EXPECT_EQ(read_twice.length, (config::Range{12, 12}));
  EXPECT_EQ(read_twice.tokens_per_parameter, (config::Range{4, 4})) << "each token counts once";
  EXPECT_EQ(read_twice.epochs, (config::Range{1.5, 1.5}));
  run.tokens = 2000;
  EXPECT_EQ(regime_of(experiment, run).tokens_per_parameter, (config::Range{2, 2}));
  EXPECT_EQ(regime_of(experiment, {}).epochs, std::nullopt) << "nothing was trained";
}

TEST(Regime, OfAMaskedModelCountsWhatItReadsAndNotOnlyWhatIsHidden) {
  data::Language text;
  text.masked = 0.25;
  text.block = 4;
  config::Experiment experiment;
  experiment.model.family = models::Family::encoder_only;
  experiment.data = text;
  const auto epochs = [&](int64_t tokens) {
    return regime_of(experiment, {.parameters = 1000, .tokens = tokens, .text_tokens = 4000})
        .epochs->front();
  };
  EXPECT_DOUBLE_EQ(epochs(2000), 2);
  text.diffusion = true;  // hides 4 / (1 + 1/2 + 1/3 + 1/4) tokens of a block in the mean
  experiment.data = text;
  EXPECT_DOUBLE_EQ(epochs(1920), 1);
}

}  // namespace
}  // namespace ablate::analysis
