#include <gtest/gtest.h>

#include "models/inference/beam.h"
#include "models/inference/search.h"
#include "tests/models/inference/small_model.h"

namespace ablate::models {
namespace {

BeamState state_of(std::vector<OpenHypothesis> open, int64_t limit) {
  return {.row = 0, .limit = limit, .open = std::move(open)};
}

ops::TopK top_of(const std::vector<std::vector<double>>& values,
                 const std::vector<std::vector<int64_t>>& ids) {
  std::vector<torch::Tensor> value_rows, id_rows;
  for (const auto& row : values) value_rows.push_back(torch::tensor(row, torch::kDouble));
  for (const auto& row : ids) id_rows.push_back(torch::tensor(row, torch::kLong));
  return {torch::stack(value_rows), torch::stack(id_rows)};
}

TEST(BeamSearch, KeepsTheBestExtensionsAndWhereTheyCameFrom) {
  const SearchOptions options{.beam = 2, .length_penalty = 0};
  const SearchRules rules{options, kTokens, 1};
  std::vector<BeamState> states{
      state_of({{.ids = {3}, .log_probability = -1}, {.ids = {4}, .log_probability = -2}}, 9)};
  // -1.5 (3 5), -2.2 (4 3), -2.3 (4 end), -4 (3 end)
  const auto next = beam_step(states, top_of({{-0.5, -3}, {-0.2, -0.3}}, {{5, 2}, {3, 2}}), rules);
  EXPECT_EQ(next.parents, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(next.tokens, (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(states[0].open[0].ids, (std::vector<int64_t>{3, 5}));
  EXPECT_DOUBLE_EQ(states[0].open[1].log_probability, -2.2);
  EXPECT_TRUE(states[0].best.empty()) << "an end below the beam does not count";
}

TEST(BeamSearch, IsDoneWhenNothingOpenCanBeatWhatEnded) {
  const SearchOptions options{.beam = 2, .length_penalty = 0};
  const SearchRules rules{options, kTokens, 1};
  std::vector<BeamState> states{state_of({{.ids = {3}, .log_probability = -1}}, 9)};
  const auto next = beam_step(states, top_of({{-0.1, -0.2}}, {{2, 5}}), rules);
  EXPECT_TRUE(next.tokens.empty());
  EXPECT_TRUE(states[0].open.empty());
  EXPECT_EQ(states[0].best.at(0).ids, std::vector<int64_t>{3});
}

TEST(BeamSearch, CutsWhatReachesItsLimitAndKeepsTheLastToken) {
  const SearchOptions options{.beam = 1, .length_penalty = 1};
  const SearchRules rules{options, kTokens, 1};
  std::vector<BeamState> states{state_of({{.ids = {3}, .log_probability = -1}}, 2)};
  beam_step(states, top_of({{-1, -2}}, {{4, 5}}), rules);
  EXPECT_EQ(states[0].best.at(0).ids, (std::vector<int64_t>{3, 4}));
  EXPECT_DOUBLE_EQ(states[0].best.at(0).score, -1.0);
}

TEST(BeamSearch, AHypothesisThatNothingMayFollowEndsAsItIs) {
  const SearchOptions options{.beam = 1, .length_penalty = 0};
  auto endless = kTokens;
  endless.eos = kNoEnd;
  for (const auto& tokens : {kTokens, endless}) {
    std::vector<BeamState> states{state_of({{.ids = {3}, .log_probability = -1}}, 9)};
    beam_step(states, top_of({{kForbidden, kForbidden}}, {{4, 5}}), {options, tokens, 1});
    EXPECT_TRUE(states[0].open.empty());
    ASSERT_EQ(states[0].best.size(), 1U);
    EXPECT_EQ(states[0].best[0].ids, std::vector<int64_t>{3});
    EXPECT_EQ(states[0].best[0].log_probability, -1);
  }
}

TEST(BeamSearch, ReadsAPromptBeforeTheOutputBegins) {
  const SearchOptions options{.beam = 2};
  const SearchRules rules{options, kTokens, 1};
  std::vector<BeamState> states{state_of({{}}, 9), state_of({{}}, 9)};
  states[1].prompt = {5};
  const auto top = top_of({{-0.5, -1}, {-0.5, -1}}, {{3, 4}, {3, 4}});
  const auto next = beam_step(states, top, rules);
  EXPECT_EQ(next.parents, (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(next.tokens, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_TRUE(states[1].prompt.empty());
  EXPECT_EQ(states[1].open.at(0).log_probability, 0);
  EXPECT_TRUE(states[1].open.at(0).ids.empty());
}

/// A beam of one state's first step, whose tokens are chosen with or without a list of processors.
std::vector<OpenHypothesis> first_beam(const torch::Tensor& logits, int64_t beam, bool processed) {
  const SearchOptions options{.beam = beam};
  const LogitsProcessors processors(options, kTokens, /*with_prefixes=*/processed);
  EXPECT_EQ(processors.empty(), !processed);
  std::vector<BeamState> states{state_of({{}}, 9)};
  const std::vector<RowContext> rows(1);
  beam_step(states, top_tokens(logits, processors, rows, 2 * beam), {options, kTokens, 1});
  return states[0].open;
}

TEST(BeamSearch, TheLikeliestTokensAreThoseOfTheLogSoftmaxWithoutPaddingAndBos) {
  torch::manual_seed(2);
  const torch::NoGradGuard no_grad;
  for (const int64_t width : {3, 4, 6, 100})
    for (const int64_t beam : {1, 3}) {
      auto logits = torch::randn({1, width});
      logits.slice(1, 0, 2).add_(5);  // padding and `bos` would be chosen first
      logits.select(1, 2).sub_(9);    // and the end is far
      const auto open = first_beam(logits, beam, false), same = first_beam(logits, beam, true);
      const auto [values, ids] = logits.log_softmax(-1)[0].slice(0, 3).sort(-1, true);
      ASSERT_EQ(std::ssize(open), std::min(beam, width - 3));
      ASSERT_EQ(open.size(), same.size());
      for (size_t i = 0; i < open.size(); ++i) {
        const auto rank = static_cast<int64_t>(i);
        EXPECT_EQ(open[i].ids, std::vector<int64_t>{ids[rank].item<int64_t>() + 3});
        EXPECT_EQ(same[i].ids, open[i].ids);
        EXPECT_NEAR(open[i].log_probability, values[rank].item<double>(), 1e-5);
        EXPECT_NEAR(same[i].log_probability, open[i].log_probability, 1e-5);
      }
    }
}

}  // namespace
}  // namespace ablate::models
