#include "models/inference/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/inference/search.h"
#include "tests/models/inference/small_model.h"

namespace ablate::models {
namespace {

std::vector<double> values_of(const torch::Tensor& row) {
  const auto wide = row.to(torch::kDouble).contiguous();
  return {wide.const_data_ptr<double>(), wide.const_data_ptr<double>() + wide.numel()};
}

TEST(Sampling, FollowsTheDistribution) {
  const auto logits = torch::tensor({0.5, -1.0, 1.2, 0.1, -0.3, 2.0}).log_softmax(0);
  struct Draws {
    RandomSampling sampling;
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
  const std::vector<Draws> cases{{{}, softmax(logits), 20.5},
                                 {{.temperature = 0.5}, softmax(logits / 0.5), 20.5},
                                 {{.top_k = 3}, only({5, 2, 0}), 13.8},
                                 {{.top_p = 0.6}, only({5, 2}), 10.8}};
  constexpr int kDraws = 20'000;
  for (const auto& one : cases) {
    std::map<int64_t, int64_t> counts;
    for (int i = 0; i < kDraws; ++i)
      ++counts[sample_token(values_of(logits), one.sampling, (i + 0.5) / kDraws)];
    EXPECT_LT(chi_square(counts, one.expected, kDraws), one.bound);
  }
}

/// The same with every token sorted first.
int64_t sampled_from_all_sorted(const std::vector<double>& value, const RandomSampling& sampling,
                                double uniform) {
  std::vector<size_t> order(value.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return value[a] > value[b]; });
  std::vector<double> weight;
  for (const auto id : order)
    weight.push_back(std::exp((value[id] - value[order[0]]) / sampling.temperature));
  const double all = std::accumulate(weight.begin(), weight.end(), 0.0);
  if (sampling.top_k > 0)
    weight.resize(std::min(weight.size(), static_cast<size_t>(sampling.top_k)));
  double sum = 0;
  for (size_t rank = 0; rank < weight.size(); ++rank)
    if ((sum += weight[rank]) >= sampling.top_p * all) weight.resize(rank + 1);
  double left = uniform * sum;
  for (size_t rank = 0; rank + 1 < weight.size(); ++rank)
    if ((left -= weight[rank]) < 0) return static_cast<int64_t>(order[rank]);
  return static_cast<int64_t>(order[weight.size() - 1]);
}

TEST(Sampling, AnOutputThatNothingMayFollowEndsAsItIs) {
  const SearchOptions options{.length_penalty = 0, .sampling = RandomSampling{}};
  auto endless = kTokens;
  endless.eos = kNoEnd;
  for (const auto& tokens : {kTokens, endless}) {
    std::vector<BeamState> states(1);
    states[0].limit = 9;
    states[0].open = {{.ids = {3}, .log_probability = -1}};
    const auto next =
        sample_step(states, torch::full({1, kVocabulary}, kForbidden), {options, tokens, 1});
    EXPECT_TRUE(next.tokens.empty());
    EXPECT_TRUE(states[0].open.empty());
    ASSERT_EQ(states[0].best.size(), 1U);
    EXPECT_EQ(states[0].best[0].ids, std::vector<int64_t>{3});
    EXPECT_EQ(states[0].best[0].log_probability, -1);
  }
}

TEST(Sampling, SortingOnlyWhatIsReadChangesNothing) {
  torch::manual_seed(5);
  for (const double spread : {0.01, 1.0, 8.0}) {
    // Rounded, so that many tokens are equally likely.
    const auto value =
        values_of((torch::randn({700}, torch::kDouble) * spread * 8).round().div(8).log_softmax(0));
    for (const RandomSampling& sampling :
         {RandomSampling{}, RandomSampling{.temperature = 0.7}, RandomSampling{.top_k = 100},
          RandomSampling{.top_p = 0.9}, RandomSampling{.top_k = 300, .top_p = 0.5}})
      for (int i = 0; i < 200; ++i) {
        const double uniform = (i + 0.5) / 200;
        EXPECT_EQ(sample_token(value, sampling, uniform),
                  sampled_from_all_sorted(value, sampling, uniform))
            << spread << " " << sampling.top_k << " " << sampling.top_p << " " << uniform;
      }
  }
}

}  // namespace
}  // namespace ablate::models
