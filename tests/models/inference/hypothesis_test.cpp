#include "models/inference/hypothesis.h"

#include <gtest/gtest.h>

#include "tests/models/inference/small_model.h"

namespace ablate::models {
namespace {

TEST(Hypothesis, FinishedOnesStaySortedAndOfEqualOnesTheFirstComesFirst) {
  const SearchOptions options{.length_penalty = 0};
  const SearchRules rules{options, kTokens, 2};
  BeamState state{.limit = 9, .open = {{.ids = {3}}, {.ids = {4}}, {.ids = {5}}}};
  add_finished(state, {0, kTokens.eos, -2}, rules);
  add_finished(state, {1, kTokens.eos, -1}, rules);
  add_finished(state, {2, kTokens.eos, -1}, rules);
  ASSERT_EQ(state.best.size(), 2U);
  EXPECT_EQ(state.best[0].ids, std::vector<int64_t>{4});
  EXPECT_EQ(state.best[1].ids, std::vector<int64_t>{5});
  EXPECT_EQ(state.ended, 3);
}

TEST(Hypothesis, ItsScoreCountsTheEndToken) {
  const SearchOptions options{.length_penalty = 1};
  BeamState state{.limit = 9, .open = {{.ids = {3, 4}}}};
  add_finished(state, {0, kTokens.eos, -6}, {options, kTokens, 1});
  EXPECT_DOUBLE_EQ(state.best.at(0).score, -6.0 / 3);
  EXPECT_DOUBLE_EQ(state.best.at(0).log_probability, -6);
}

TEST(Hypothesis, AnOpenOneMayStillWinWhileItsBestScoreIsHigher) {
  const SearchOptions options{.beam = 4, .length_penalty = 1};
  const SearchRules rules{options, kTokens, 1};
  BeamState state{.limit = 10, .open = {{.ids = {3}}}};
  const std::vector<OpenHypothesis> open{{.ids = {3, 4}, .log_probability = -9}};
  EXPECT_FALSE(is_done(state, open, rules)) << "nothing has ended";
  add_finished(state, {0, kTokens.eos, -2}, rules);  // score -1; the open one may reach -0.9
  EXPECT_FALSE(is_done(state, open, rules));
  add_finished(state, {0, kTokens.eos, -1.6}, rules);  // score -0.8
  EXPECT_TRUE(is_done(state, open, rules));
  EXPECT_TRUE(is_done(BeamState{.limit = 10}, {}, rules));
}

}  // namespace
}  // namespace ablate::models
