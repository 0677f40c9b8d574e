#include "models/decode.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ablate::models {
namespace {

constexpr int64_t kVocabulary = 6;

Transformer small(uint64_t seed) {
  torch::manual_seed(seed);
  Transformer model(TransformerOptions{.d_model = 8,
                                       .layers = 1,
                                       .attention = MultiHead{.heads = 2},
                                       .feed_forward = DenseFeedForward{.d_hidden = 8}},
                    Vocabulary{kVocabulary, kVocabulary, 0});
  torch::NoGradGuard no_grad;
  model->parameters()[0].mul_(2.0);  // sharper distributions, so that hypotheses differ
  return model;
}

/// Every target of at most `length` pieces with its score: what an unlimited beam must find.
Hypothesis exhaustive(Transformer& model, const torch::Tensor& source, const SearchOptions& o) {
  Hypothesis best{.ids = {}, .score = -1e30};
  std::vector<std::vector<int64_t>> open{{}};
  for (int64_t length = 1; length <= o.max_length; ++length) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& prefix : open)
      for (int64_t id = 0; id < kVocabulary; ++id) {
        auto out = prefix;
        out.push_back(id);
        if (id != o.eos && length < o.max_length) {
          longer.push_back(out);
          continue;
        }
        auto in = prefix;
        in.insert(in.begin(), o.bos);
        const double log_probability =
            score(model, source, torch::tensor(in).unsqueeze(0), torch::tensor(out).unsqueeze(0),
                  /*pad=*/-1)
                .item<double>();
        const double value =
            log_probability / std::pow(static_cast<double>(length), o.length_penalty);
        if (id == o.eos) out.pop_back();
        if (value > best.score) best = {out, value};
      }
    open = longer;
  }
  return best;
}

TEST(Search, AnUnlimitedBeamFindsTheBestOfAllTargets) {
  for (const uint64_t seed : {1U, 2U, 3U, 4U})
    for (const double penalty : {0.0, 1.0}) {
      auto model = small(seed);
      const auto source = torch::tensor({{3, 4, 2}}, torch::kLong);
      const SearchOptions options{.beam = 200, .length_penalty = penalty, .max_length = 3};
      const auto found = search(model, source, options)[0];
      const auto best = exhaustive(model, source, options);
      EXPECT_EQ(found.ids, best.ids) << seed << " " << penalty;
      EXPECT_NEAR(found.score, best.score, 1e-5);
    }
}

TEST(Search, GreedyTakesTheLikeliestPieceEveryTime) {
  auto model = small(5);
  const auto source = torch::tensor({{3, 4, 5, 2}}, torch::kLong);
  const auto found = search(model, source, {.beam = 1, .max_length = 9})[0];
  torch::NoGradGuard no_grad;
  std::vector<int64_t> ids{1};
  while (ids.size() < 10) {
    const auto next = model->forward(source, torch::tensor(ids).unsqueeze(0))[0][-1].argmax();
    if (next.item<int64_t>() == 2) break;
    ids.push_back(next.item<int64_t>());
  }
  EXPECT_EQ(found.ids, std::vector<int64_t>(ids.begin() + 1, ids.end()));
}

TEST(Search, ResultsDoNotDependOnTheOtherRows) {
  for (const int64_t beam : {1, 4}) {
    auto model = small(6);
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

TEST(Search, NeverExceedsItsLength) {
  auto model = small(7);
  const auto source = torch::tensor({{3, 4, 2}}, torch::kLong);
  for (const int64_t length : {1, 2, 5})
    EXPECT_LE(search(model, source, {.beam = 3, .max_length = length})[0].ids.size(),
              static_cast<size_t>(length));
}

TEST(Search, ItsScoreIsThatOfTheTarget) {
  auto model = small(8);
  const auto source = torch::tensor({{3, 5, 2}}, torch::kLong);
  const auto found = search(model, source, {.beam = 4, .length_penalty = 0, .max_length = 20})[0];
  auto in = found.ids, out = found.ids;
  in.insert(in.begin(), 1);
  out.push_back(2);
  if (out.size() > 20) GTEST_SKIP() << "cut at the length limit";
  EXPECT_NEAR(
      found.score,
      score(model, source, torch::tensor(in).unsqueeze(0), torch::tensor(out).unsqueeze(0), 0)
          .item<double>(),
      1e-4);
}

}  // namespace
}  // namespace ablate::models
