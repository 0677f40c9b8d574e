#include "models/inference/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/models/inference/small_model.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/says.h"

namespace ablate::models {
namespace {

/// Every target of at most `length` tokens with its score: what an unlimited beam must find.
Hypothesis exhaustive(const InferenceModel& model, const torch::Tensor& source,
                      const SearchOptions& o) {
  Hypothesis best{.ids = {}, .score = -1e30};
  std::vector<std::vector<int64_t>> open{{}};
  for (int64_t length = 1; length <= o.max_length; ++length) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& prefix : open)
      for (int64_t id = 0; id < kVocabulary; ++id) {
        if (id == kTokens.pad || id == kTokens.bos) continue;
        auto out = prefix;
        out.push_back(id);
        if (id != kTokens.eos && length < o.max_length) {
          longer.push_back(out);
          continue;
        }
        auto in = prefix;
        in.insert(in.begin(), kTokens.bos);
        const double log_probability =
            score(model, source, torch::tensor(in).unsqueeze(0), torch::tensor(out).unsqueeze(0))
                .item<double>();
        const double value =
            log_probability / std::pow(static_cast<double>(length), o.length_penalty);
        if (id == kTokens.eos) out.pop_back();
        if (value > best.score) best = {out, value};
      }
    open = longer;
  }
  return best;
}

TEST(Search, AnUnlimitedBeamFindsTheBestOfAllTargets) {
  for (const uint64_t seed : {1U, 2U, 3U, 4U})
    for (const double penalty : {0.0, 1.0}) {
      const InferenceModel model(small(seed));
      const auto source = torch::tensor({{3, 4, 2}}, torch::kLong);
      const SearchOptions options{.beam = 200, .length_penalty = penalty, .max_length = 3};
      const auto found = search(model, source, options)[0];
      const auto best = exhaustive(model, source, options);
      EXPECT_EQ(found.ids, best.ids) << seed << " " << penalty;
      EXPECT_NEAR(found.score, best.score, 1e-5);
    }
}

TEST(Search, GreedyTakesTheLikeliestTokenOfThoseThatAnOutputMayHave) {
  const auto source = torch::tensor({{3, 4, 5, 2}}, torch::kLong);
  size_t longest = 0;
  for (const uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const InferenceModel model(small(seed));
    const auto found = search(model, source, {.beam = 1, .max_length = 9})[0];
    std::vector<int64_t> ids{1};
    while (ids.size() < 10) {
      const auto logits = model.forward(source, torch::tensor(ids).unsqueeze(0))[0][-1];
      const auto next = 2 + logits.slice(0, 2).argmax().item<int64_t>();
      if (next == kTokens.eos) break;
      ids.push_back(next);
    }
    EXPECT_EQ(found.ids, std::vector<int64_t>(ids.begin() + 1, ids.end()));
    longest = std::max(longest, found.ids.size());
  }
  EXPECT_GT(longest, 1U);
}

TEST(Search, ResultsDoNotDependOnTheOtherRows) {
  for (const int64_t beam : {1, 4}) {
    const InferenceModel model(small(6));
    const auto source =
        torch::tensor({{3, 4, 5, 2}, {5, 2, 0, 0}, {4, 4, 2, 0}, {3, 2, 0, 0}}, torch::kLong);
    const SearchOptions options{.beam = beam, .max_length = 12};
    const auto together = search(model, source, options);
    for (int64_t row = 0; row < source.size(0); ++row) {
      const auto real = source[row].ne(0).sum().item<int64_t>();
      const auto alone = search(model, source[row].slice(0, 0, real).unsqueeze(0), options)[0];
      EXPECT_EQ(together[static_cast<size_t>(row)].ids, alone.ids) << beam << " " << row;
      EXPECT_NEAR(together[static_cast<size_t>(row)].score, alone.score, 1e-5);
    }
  }
}

/// Of an output of at most `longest` tokens; one that was cut has no end token.
double log_probability(const InferenceModel& model, const torch::Tensor& source,
                       const std::vector<int64_t>& ids, size_t longest) {
  auto in = ids, out = ids;
  in.insert(in.begin(), 1);
  out.push_back(2);
  in.resize(std::min(in.size(), longest));
  out.resize(std::min(out.size(), longest));
  return score(model, source, torch::tensor(in).unsqueeze(0), torch::tensor(out).unsqueeze(0))
      .item<double>();
}

TEST(Search, TheNBestAreTheBestOfAllTargetsInOrder) {
  const InferenceModel model(small(3));
  const auto source = torch::tensor({{3, 4, 2}}, torch::kLong);
  const SearchOptions options{.beam = 200, .length_penalty = 0, .max_length = 12};
  const auto found =
      search_all({&model, 1}, {.source = source, .tokens = kTokens, .n_best = 5}, options)[0];
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].ids, search(model, source, options)[0].ids);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_GE(found[i == 0 ? 0 : i - 1].score, found[i].score);
    EXPECT_NEAR(found[i].log_probability, log_probability(model, source, found[i].ids, 12), 1e-4);
  }
}

TEST(Search, AnOutputHasAtLeastTheFewestTokensWhateverTheRatio) {
  const InferenceModel model(small(6));
  for (const int64_t beam : {1, 3})
    for (const SearchOptions& options :
         {SearchOptions{.beam = beam, .min_length = 4, .max_length = 9},
          SearchOptions{.beam = beam, .min_length = 25, .max_length = 40, .max_ratio = 1}})
      for (const auto& row : search(model, sources(), options))
        EXPECT_GE(std::ssize(row.ids), options.min_length);
}

TEST(Search, NamesTheStepWhereScoresAreNotNumbers) {
  for (const double broken : {double{NAN}, double{INFINITY}}) {
    auto transformer = small(6);
    {
      const torch::NoGradGuard no_grad;
      transformer->parameters()[0].fill_(broken);
    }
    const InferenceModel model(transformer);
    for (const SearchOptions& options :
         {SearchOptions{}, SearchOptions{.beam = 3}, SearchOptions{.min_length = 2},
          SearchOptions{.sampling = RandomSampling{}},
          SearchOptions{.sampling = RandomSampling{.top_k = 2}}}) {
      EXPECT_TRUE(says(refusal_of<NotFinite>([&] { search(model, sources(), options); }),
                       "not numbers at step 1 of an output"));
    }
  }
}

TEST(Search, OutputsBeginWithTheirPrefixes) {
  const InferenceModel model(small(6));
  const std::vector<std::vector<int64_t>> prefixes{{5, 5, 3}, {}, {4}};
  for (const int64_t beam : {1, 4}) {
    const auto found =
        search_all({&model, 1}, {.source = sources(), .tokens = kTokens, .prefixes = prefixes},
                   {.beam = beam, .length_penalty = 0, .max_length = 12});
    for (size_t row = 0; row < prefixes.size(); ++row) {
      const auto& best = found[row].front();
      ASSERT_GE(best.ids.size(), prefixes[row].size());
      EXPECT_TRUE(std::equal(prefixes[row].begin(), prefixes[row].end(), best.ids.begin()));
    }
    EXPECT_EQ(
        found[1].front().ids,
        search(model, sources(), {.beam = beam, .length_penalty = 0, .max_length = 12})[1].ids);
  }
}

TEST(Search, FirstTokensOfManyDrawnOutputsFollowTheModel) {
  const InferenceModel model(small(4));
  const auto source = torch::tensor({{3, 4, 2}}, torch::kLong);
  constexpr int64_t kDraws = 4000;
  const auto found =
      search_all({&model, 1}, {.source = source, .tokens = kTokens, .n_best = kDraws},
                 {.max_length = 1, .sampling = RandomSampling{}})[0];
  torch::NoGradGuard no_grad;
  auto probability = model.forward(source, torch::tensor({{1}})).softmax(-1)[0][0];
  probability[0] = probability[1] = 0;  // padding and start mark are never drawn
  std::map<int64_t, int64_t> counts;
  for (const auto& one : found) ++counts[one.ids.empty() ? 2 : one.ids[0]];
  EXPECT_LT(chi_square(counts, probability / probability.sum(), kDraws), 16.3);  // 3 free, 0.001
}

TEST(Search, WhatIsDrawnIsAFunctionOfSeedAndRowAlone) {
  const InferenceModel model(small(6));
  const auto draw = [&](const torch::Tensor& source, std::vector<int64_t> numbers, int64_t seed) {
    return search_all({&model, 1},
                      {.source = source, .tokens = kTokens, .n_best = 3, .numbers = numbers},
                      {.max_length = 10, .sampling = RandomSampling{.random_seed = seed}});
  };
  const auto all = draw(sources(), {7, 8, 9}, 5);
  const auto alone = draw(sources().slice(0, 1, 2).slice(1, 0, 2), {8}, 5);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(all[1][i].ids, alone[0][i].ids);
  EXPECT_NE(draw(sources(), {7, 8, 9}, 6)[0][0].ids, all[0][0].ids);
}

/// Prompts of three lengths; the searches of each alone must be those of all together.
void expect_each_as_alone(const InferenceModel& model, const SearchOptions& options,
                          int64_t n_best) {
  const auto prompts = torch::tensor(
      {{3, 4, 5, 4, 3}, {5, 3, 0, 0, 0}, {4, 4, 3, 0, 0}, {0, 0, 0, 0, 0}}, torch::kLong);
  const std::vector<int64_t> lengths{5, 2, 3, 0}, numbers{7, 8, 9, 10};
  const auto together = search_all(
      {&model, 1}, {.source = prompts, .tokens = kTokens, .n_best = n_best, .numbers = numbers},
      options);
  for (size_t row = 0; row < lengths.size(); ++row) {
    const auto at = static_cast<int64_t>(row);
    const auto alone = search_all({&model, 1},
                                  {.source = prompts.slice(0, at, at + 1).slice(1, 0, lengths[row]),
                                   .tokens = kTokens,
                                   .n_best = n_best,
                                   .numbers = std::span(numbers).subspan(row, 1)},
                                  options)[0];
    ASSERT_EQ(together[row].size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together[row][i].ids, alone[i].ids) << row;
      EXPECT_NEAR(together[row][i].score, alone[i].score, 1e-5);
    }
  }
}

TEST(Search, PromptsOfDifferentLengthsAreContinuedAsEachAlone) {
  for (const auto* group : {"positions", "position_ids"})
    for (auto [name, options] : variants(group)) {
      SCOPED_TRACE(name);
      options.family = Family::decoder_only;
      const InferenceModel model(moved(options));
      for (const int64_t beam : {1, 3})
        expect_each_as_alone(model, {.beam = beam, .max_length = 7}, 1);
    }
}

TEST(Search, AProcessedOrDrawnContinuationDoesNotCountItsPrompt) {
  const InferenceModel model(small(11, Family::decoder_only));
  const std::vector<SearchOptions> all{
      {.beam = 2, .max_length = 9, .max_ratio = 0.1},
      {.min_length = 3, .max_length = 6},
      {.max_length = 6, .sampling = RandomSampling{.temperature = 1.5}}};
  for (const auto& options : all)
    for (const int64_t n_best : {1, 3}) expect_each_as_alone(model, options, n_best);
}

}  // namespace
}  // namespace ablate::models
