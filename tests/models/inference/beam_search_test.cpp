#include "models/inference/beam_search.h"

#include <gtest/gtest.h>

#include "tests/models/inference/small_model.h"

namespace ablate::models {
namespace {

BeamState state_of(std::vector<OpenHypothesis> open, int64_t limit) {
  return {.row = 0, .limit = limit, .open = std::move(open)};
}

TopTokens top_of(const std::vector<std::vector<double>>& values,
                 const std::vector<std::vector<int64_t>>& ids) {
  TopTokens top;
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

TEST(BeamSearch, ReadsAPromptBeforeTheOutputBegins) {
  const SearchOptions options{.beam = 2};
  const SearchRules rules{options, kTokens, 1};
  const std::vector<int64_t> prompt{5};
  std::vector<BeamState> states{state_of({{}}, 9), state_of({{}}, 9)};
  states[1].prompt = prompt;
  const auto top = top_of({{-0.5, -1}, {-0.5, -1}}, {{3, 4}, {3, 4}});
  const auto next = beam_step(states, top, rules);
  EXPECT_EQ(next.parents, (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(next.tokens, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_TRUE(states[1].prompt.empty());
  EXPECT_EQ(states[1].open.at(0).log_probability, 0);
  EXPECT_TRUE(states[1].open.at(0).ids.empty());
}

TEST(BeamSearch, TheLikeliestTokensAreThoseOfTheLogSoftmax) {
  torch::manual_seed(2);
  const LogitsProcessors none({}, kTokens, false), some({}, kTokens, true);
  for (const int64_t width : {3, 6, 100}) {
    const auto logits = torch::randn({5, width});
    const std::vector<RowContext> rows(5);
    const torch::NoGradGuard no_grad;
    const auto fast = top_tokens(logits, none, rows, 4), slow = top_tokens(logits, some, rows, 4);
    const auto real = fast.values.size(1);
    EXPECT_EQ(real, std::min<int64_t>(4, width - 2));
    EXPECT_TRUE(torch::equal(fast.ids, slow.ids.slice(1, 0, real)));
    EXPECT_LT((fast.values - slow.values.slice(1, 0, real)).abs().max().item<double>(), 1e-5);
  }
}

}  // namespace
}  // namespace ablate::models
