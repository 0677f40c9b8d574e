#include "models/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/piece_rules.h"

namespace ablate::models {
namespace {

constexpr int64_t kVocabulary = 6;

Transformer small(uint64_t seed) {
  Transformer model(TransformerOptions{.d_model = 8,
                                       .layers = 1,
                                       .attention = MultiHead{.heads = 2},
                                       .feed_forward = DenseFeedForward{.d_hidden = 8}},
                    Vocabulary{kVocabulary, kVocabulary, 0});
  initialize(*model, seed);
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
        if (id == o.pad || id == o.bos) continue;
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
    const auto logits = model->forward(source, torch::tensor(ids).unsqueeze(0))[0][-1];
    const auto next = logits.slice(0, 2).argmax() + 2;  // neither padding nor the start
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

torch::Tensor sources() {
  return torch::tensor({{3, 4, 5, 2}, {5, 2, 0, 0}, {4, 4, 2, 0}}, torch::kLong);
}

/// Of an output of at most `longest` pieces; one that was cut has no end mark.
double log_probability(Transformer& model, const torch::Tensor& source,
                       const std::vector<int64_t>& ids, size_t longest) {
  auto in = ids, out = ids;
  in.insert(in.begin(), 1);
  out.push_back(2);
  in.resize(std::min(in.size(), longest));
  out.resize(std::min(out.size(), longest));
  return score(model, source, torch::tensor(in).unsqueeze(0), torch::tensor(out).unsqueeze(0), 0)
      .item<double>();
}

TEST(Search, TheNBestAreTheBestOfAllTargetsInOrder) {
  auto model = small(3);
  const auto source = torch::tensor({{3, 4, 2}}, torch::kLong);
  const SearchOptions options{.beam = 200, .n_best = 5, .length_penalty = 0, .max_length = 12};
  const auto found = search_all({&model, 1}, {source, {}, {}}, options)[0];
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].ids, search(model, source, options)[0].ids);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_GE(found[i == 0 ? 0 : i - 1].score, found[i].score);
    EXPECT_NEAR(found[i].log_probability, log_probability(model, source, found[i].ids, 12), 1e-4);
  }
}

TEST(Search, AnOutputHasAtLeastTheFewestPieces) {
  auto model = small(6);
  for (const int64_t beam : {1, 3})
    for (const auto& row :
         search(model, sources(), {.beam = beam, .min_length = 4, .max_length = 9}))
      EXPECT_GE(row.ids.size(), 4U);
}

TEST(Search, NoNgramComesTwice) {
  auto model = small(7);
  const auto repeats = [](const std::vector<int64_t>& ids) {
    for (size_t i = 0; i + 1 < ids.size(); ++i)
      for (size_t j = i + 1; j + 1 < ids.size(); ++j)
        if (ids[i] == ids[j] && ids[i + 1] == ids[j + 1]) return true;
    return false;
  };
  const auto source = torch::tensor({{3, 4, 2}}, torch::kLong);
  const SearchOptions free{.min_length = 8, .max_length = 10};
  EXPECT_TRUE(repeats(search(model, source, free)[0].ids));
  for (const int64_t beam : {1, 4}) {
    auto options = free;
    options.beam = beam;
    options.no_repeat_ngram = 2;
    EXPECT_FALSE(repeats(search(model, source, options)[0].ids));
  }
}

TEST(Search, ARepetitionPenaltyWeakensWhatStandsThere) {
  const std::vector<int64_t> ids{3, 3};
  const std::vector<Written> rows{{&ids, nullptr}};
  const auto logits = torch::tensor({{0.0, 0.0, -1.0, 2.0, 1.0, -3.0}});
  const auto all = permitted(logits, rows, {.repetition_penalty = 2.0});
  const auto expected = torch::tensor({{0.0, 0.0, -1.0, 1.0, 1.0, -3.0}}).log_softmax(-1);
  EXPECT_LT((all - expected).slice(1, 2).abs().max().item<double>(), 1e-6);
  EXPECT_EQ(all[0][0].item<double>(), -std::numeric_limits<double>::infinity()) << "padding";
}

TEST(Search, OutputsBeginWithTheirPrefixes) {
  auto model = small(6);
  const std::vector<std::vector<int64_t>> prefixes{{5, 5, 3}, {}, {4}};
  for (const int64_t beam : {1, 4}) {
    const auto found = search_all({&model, 1}, {sources(), prefixes, {}},
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

TEST(Search, OneModelTwiceVotesAsOnce) {
  auto model = small(6), other = small(9);
  const SearchOptions options{.beam = 3, .max_length = 10};
  std::vector<Transformer> twice{model, model}, both{model, other};
  const auto once = search(model, sources(), options);
  const auto voted = search_all(twice, {sources(), {}, {}}, options);
  for (size_t row = 0; row < once.size(); ++row) {
    EXPECT_EQ(voted[row][0].ids, once[row].ids);
    EXPECT_NEAR(voted[row][0].score, once[row].score, 1e-5);
  }
  EXPECT_NE(search_all(both, {sources(), {}, {}}, options)[0][0].score, once[0].score);
}

/// Of one finished target: what the search should have added to its score.
double coverage_of(Transformer& model, const torch::Tensor& source, const std::vector<int64_t>& out,
                   double penalty) {
  auto in = out;
  in.insert(in.begin(), 1);
  torch::Tensor attention;  // of the last layer
  Observer observer;
  observer.attention = [&](const torch::Tensor& probabilities) { attention = probabilities; };
  model->hidden(source, torch::tensor(in).unsqueeze(0), {.observer = &observer});
  const auto read = attention[0].mean(0).sum(0);  // [S]
  return penalty * read.clamp_max(1.0).log().masked_fill(source[0].eq(0), 0.0).sum().item<double>();
}

TEST(Search, ACoveragePenaltyIsThatOfTheWholeTargetsAttention) {
  torch::NoGradGuard no_grad;
  auto model = small(6);
  int64_t punished = 0;
  for (const int64_t beam : {1, 3}) {
    const SearchOptions options{.beam = beam, .coverage_penalty = 0.4, .max_length = 9};
    const auto found = search(model, sources(), options);
    for (size_t row = 0; row < found.size(); ++row) {
      auto out = found[row].ids;
      const bool ended = std::ssize(out) < options.max_length;
      if (!ended) continue;
      const double pieces = static_cast<double>(out.size() + 1);
      const auto source =
          sources().slice(0, static_cast<int64_t>(row), static_cast<int64_t>(row) + 1);
      EXPECT_NEAR(found[row].score,
                  found[row].log_probability / pieces + coverage_of(model, source, out, 0.4), 1e-5);
      punished += found[row].score < found[row].log_probability / pieces - 0.01 ? 1 : 0;
    }
  }
  EXPECT_GT(punished, 0);
}

/// Pearson's statistic of counts against expected shares.
double chi_square(const std::map<int64_t, int64_t>& counts, const torch::Tensor& probability,
                  double draws) {
  double sum = 0;
  for (int64_t id = 0; id < probability.size(0); ++id) {
    const double expected = probability[id].item<double>() * draws;
    const double seen = counts.contains(id) ? static_cast<double>(counts.at(id)) : 0.0;
    if (expected > 0)
      sum += std::pow(seen - expected, 2) / expected;
    else
      EXPECT_EQ(seen, 0) << id;
  }
  return sum;
}

TEST(Sampling, FollowsTheDistribution) {
  const auto logits = torch::tensor({0.5, -1.0, 1.2, 0.1, -0.3, 2.0}).log_softmax(0);
  struct Case {
    Sampling sampling;
    torch::Tensor expected;
    double bound;  // of chi-square with as many degrees of freedom, at p = 0.001
  };
  const auto softmax = [](const torch::Tensor& x) { return x.softmax(0); };
  const auto only = [&](std::vector<int64_t> ids) {
    auto kept = torch::zeros_like(logits);
    for (const auto id : ids) kept[id] = logits[id].exp();
    return kept / kept.sum();
  };
  // Sorted probabilities: 0.49, 0.22, 0.11, 0.07, ...; two reach 0.6.
  const std::vector<Case> cases{{{}, softmax(logits), 20.5},
                                {{.temperature = 0.5}, softmax(logits / 0.5), 20.5},
                                {{.top_k = 3}, only({5, 2, 0}), 13.8},
                                {{.top_p = 0.6}, only({5, 2}), 10.8}};
  constexpr int kDraws = 20'000;
  for (const auto& one : cases) {
    std::map<int64_t, int64_t> counts;
    for (int i = 0; i < kDraws; ++i) ++counts[drawn(logits, one.sampling, (i + 0.5) / kDraws)];
    EXPECT_LT(chi_square(counts, one.expected, kDraws), one.bound);
  }
}

TEST(Sampling, FirstPiecesOfManyOutputsFollowTheModel) {
  auto model = small(4);
  const auto source = torch::tensor({{3, 4, 2}}, torch::kLong);
  constexpr int64_t kDraws = 4000;
  const auto found = search_all({&model, 1}, {source, {}, {}},
                                {.n_best = kDraws, .max_length = 1, .sampling = Sampling{}})[0];
  torch::NoGradGuard no_grad;
  auto probability = model->forward(source, torch::tensor({{1}})).softmax(-1)[0][0];
  probability[0] = probability[1] = 0;  // padding and start mark are never drawn
  std::map<int64_t, int64_t> counts;
  for (const auto& one : found) ++counts[one.ids.empty() ? 2 : one.ids[0]];
  EXPECT_LT(chi_square(counts, probability / probability.sum(), kDraws), 16.3);  // 3 free, 0.001
}

TEST(Sampling, IsAFunctionOfSeedAndRowAlone) {
  auto model = small(6);
  const auto draw = [&](const torch::Tensor& source, std::vector<int64_t> numbers, uint64_t seed) {
    return search_all({&model, 1}, {source, {}, numbers},
                      {.n_best = 3, .max_length = 10, .sampling = Sampling{.seed = seed}});
  };
  const auto all = draw(sources(), {7, 8, 9}, 5);
  const auto alone = draw(sources().slice(0, 1, 2).slice(1, 0, 2), {8}, 5);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(all[1][i].ids, alone[0][i].ids);
  EXPECT_NE(draw(sources(), {7, 8, 9}, 6)[0][0].ids, all[0][0].ids);
}

}  // namespace
}  // namespace ablate::models
