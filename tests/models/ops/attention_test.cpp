#include "models/ops/attention.h"

#include <gtest/gtest.h>

#include "models/position/position.h"
#include "tests/models/models.h"

namespace ablate::models {
namespace {

void expect_near_values(const torch::Tensor& a, const torch::Tensor& b, double tolerance = 2e-5) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT(largest_difference(a, b), tolerance);
}

/// Whatever shares heads of keys and values repeated. // [B, T, GK] -> [B, H, T, K]
torch::Tensor heads_of(const torch::Tensor& x, int64_t groups, int64_t heads) {
  return x.unflatten(-1, {groups, -1}).transpose(1, 2).repeat_interleave(heads / groups, 1);
}

/// Equation 1 of the paper, spelled out.
ops::AttentionOutput spelled_out(const ops::AttentionInput& in) {
  const auto& heads = in.heads;
  const auto query = in.query.narrow(-1, 0, heads.query_width());
  const auto key_value =
      in.key_value.defined() ? in.key_value : in.query.slice(-1, heads.query_width());
  const auto parts = key_value.split_with_sizes({heads.key_width(), heads.value_width()}, -1);
  const auto q = ops::rotate(heads_of(query, heads.count, heads.count), in.position.rotation);
  auto k = heads_of(parts[0], heads.key_values, heads.count);
  if (!in.key_value.defined()) k = ops::rotate(k, in.position.rotation);
  auto scores = q.matmul(k.transpose(2, 3)) / std::sqrt(static_cast<double>(heads.d_k));
  if (in.position.bias.defined()) scores = scores + in.position.bias;
  auto visible = torch::ones_like(scores, torch::kBool);
  if (in.padding_mask.defined()) visible = visible & in.padding_mask.unsqueeze(1).unsqueeze(1);
  if (in.causal) visible = visible.tril();
  const auto weights = scores.masked_fill(visible.logical_not(), -1e30).softmax(-1);
  const auto kept = ops::dropout(weights, in.dropout);
  return {kept.matmul(heads_of(parts[1], heads.key_values, heads.count)).transpose(1, 2).flatten(2),
          weights};
}

/// Expects the formula's values, and its gradients of these tensors. Returns both values.
std::pair<torch::Tensor, torch::Tensor> expect_formula(const ops::AttentionInput& in,
                                                       const std::vector<torch::Tensor>& inputs) {
  const auto ours = ops::attention(in).values, theirs = spelled_out(in).values;
  expect_near_values(ours, theirs);
  const auto a = weighted_gradients(ours, inputs), b = weighted_gradients(theirs, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) expect_near_values(a[i], b[i], 1e-4);
  return {ours, theirs};
}

/// A rotation at `length` positions, or none.
ops::Rotation rotation_of(const std::optional<Rotary>& options, int64_t length, int64_t d_k) {
  if (!options || d_k < 2) return {};
  return make_position(
             *options,
             {.d_model = d_k, .heads = 1, .d_k = d_k, .d_v = 8, .layers = 2, .causal = false})
      ->rotation(torch::arange(length), length);
}

TEST(Attention, OverItsOwnPositionsIsTheFormulaWithItsGradients) {
  torch::manual_seed(2);
  const std::vector<std::optional<Rotary>> rotations = {
      {}, Rotary{}, Rotary{.layout = RotaryLayout::interleaved, .fraction = 0.7}};
  for (const Heads& heads :
       std::vector<Heads>{{1, 1, 16, 16}, {3, 3, 5, 7}, {2, 2, 33, 18}, {4, 2, 6, 5}})
    for (const bool causal : {false, true})
      for (const int64_t length : {1, 3, 4, 16, 37, 38}) {
        const auto qkv =
            torch::randn({4, length, heads.query_width() + heads.key_width() + heads.value_width()})
                .requires_grad_();
        const auto bias = torch::randn({heads.count, length, length}).requires_grad_();
        auto mask = torch::ones({4, length}, torch::kBool);
        if (length > 1) mask.index_put_({1, torch::indexing::Slice(length / 2 + 1)}, false);
        ops::AttentionInput in{
            .query = qkv,
            .heads = heads,
            .padding_mask = mask,
            .position = {.rotation = rotation_of(rotations[static_cast<size_t>(length % 3)], length,
                                                 heads.d_k)},
            .causal = causal};
        std::vector<torch::Tensor> inputs{qkv};
        if (length % 2 == 1) {
          in.position.bias = bias;
          inputs.push_back(bias);
        }
        expect_formula(in, inputs);
      }
}

TEST(Attention, OverAMemoryIsTheFormulaWithItsGradients) {
  torch::manual_seed(3);
  for (const Heads& heads : std::vector<Heads>{{2, 2, 6, 10}, {4, 1, 6, 10}})
    for (const auto& [targets, sources] :
         std::vector<std::array<int64_t, 2>>{{1, 1}, {5, 3}, {17, 40}}) {
      const auto query = torch::randn({3, targets, heads.query_width()}).requires_grad_();
      const auto key_value =
          torch::randn({3, sources, heads.key_width() + heads.value_width()}).requires_grad_();
      auto mask = torch::ones({3, sources}, torch::kBool);
      if (sources > 1) mask.index_put_({2, torch::indexing::Slice(1)}, false);
      expect_formula({.query = query, .key_value = key_value, .heads = heads, .padding_mask = mask},
                     {query, key_value});
    }
}

/// A kernel and, without gradients or with one of these weightings, LibTorch's operators.
TEST(Attention, DropsTheWeightsThatDropoutOfAllOfThemDropsWhateverComputesIt) {
  torch::manual_seed(6);
  const Heads heads{4, 2, 6, 5};
  for (const int64_t length : {1, 5, 37, 150}) {
    const auto qkv = torch::randn({3, length, 24 + 12 + 10}).requires_grad_();
    const auto bias = torch::randn({4, length, length}).requires_grad_();
    const ops::AttentionInput in{.query = qkv,
                                 .heads = heads,
                                 .position = {.bias = bias},
                                 .causal = true,
                                 .dropout = {.rate = 0.4, .noise = {17}}};
    const auto [ours, theirs] = expect_formula(in, {qkv, bias});
    auto other = in;
    other.dropout.noise = {18};
    EXPECT_GT(largest_difference(ops::attention(other).values, ours), length == 1 ? -1 : 0.01);
    auto watched = in;
    watched.wants_probabilities = true;
    const auto both = ops::attention(watched);
    expect_near_values(both.values, theirs);
    expect_near_values(both.probabilities.sum(-1), torch::ones({3, 4, length}));
    auto sunken = in;
    sunken.weighting.sinks = torch::full({4}, -1e4);  // of which no weight is left
    expect_near_values(ops::attention(sunken).values, theirs);
    const torch::NoGradGuard no_grad;
    expect_near_values(ops::attention(in).values, theirs);
  }
}

/// Weights of the scores `first`, ln 3 and of a third that is hidden.
std::vector<double> weights_of(const ops::Weighting& weighting, double first = 0) {
  const auto scores = torch::tensor({first, std::log(3.0), 50.0}).view({1, 1, 1, 3});
  const auto visible = torch::tensor({true, true, false}).view({1, 1, 1, 3});
  const auto weights = ops::attention_weights(scores, visible, weighting).flatten();
  return {weights[0].item<double>(), weights[1].item<double>(), weights[2].item<double>()};
}

void expect_weights(const ops::Weighting& weighting, double first, double second) {
  const auto weights = weights_of(weighting);
  EXPECT_NEAR(weights[0], first, 1e-6);
  EXPECT_NEAR(weights[1], second, 1e-6);
  EXPECT_EQ(weights[2], 0);
}

TEST(AttentionWeights, AreTheFormulas) {
  expect_weights({}, 1.0 / 4, 3.0 / 4);
  expect_weights({.score_function = ScoreFunction::softmax_one}, 1.0 / 5, 3.0 / 5);
  expect_weights({.sinks = torch::tensor({std::log(4.0)})}, 1.0 / 8, 3.0 / 8);
  const double scaled = std::pow(3.0, std::log(2.0));  // e^(s ln 2)
  expect_weights({.score_function = ScoreFunction::scalable_softmax}, 1 / (1 + scaled),
                 scaled / (1 + scaled));
  const double added = 3e-6;  // the paper's 1e-6 beside sums that are divided by the largest e^s
  expect_weights({.score_function = ScoreFunction::softpick}, 0, 2 / (2 + added));
  const auto below = weights_of({.score_function = ScoreFunction::softpick}, -std::log(2.0));
  EXPECT_NEAR(below[1], 2 / (2.5 + added), 1e-6) << "|1/2 - 1| is in the sum, too";
  // sigmoid(s - ln 2) = e^s / (e^s + 2) for two visible keys.
  expect_weights({.score_function = ScoreFunction::sigmoid}, 1.0 / 3, 3.0 / 5);
  expect_weights({.score_function = ScoreFunction::relu2}, 0, std::log(3.0) * std::log(3.0) / 2);
  const double capped = std::exp(0.5 * std::tanh(2 * std::log(3.0)));
  expect_weights({.softcap = 0.5}, 1 / (1 + capped), capped / (1 + capped));
}

TEST(AttentionWeights, OfNothingVisibleAreZeros) {
  const auto scores = torch::randn({2, 2, 3, 4});
  const auto nothing = torch::zeros({1, 1, 1, 4}, torch::kBool);
  for (const auto& [weights, name] : names(ScoreFunction{}))
    EXPECT_EQ(ops::attention_weights(scores, nothing, {.score_function = weights})
                  .abs()
                  .sum()
                  .item<double>(),
              0)
        << name;
}

TEST(Attention, GivesItsProbabilitiesOnRequest) {
  torch::manual_seed(4);
  const Heads heads{4, 2, 3, 5};
  ops::AttentionInput in{.query = torch::randn({2, 6, 12 + 6 + 10}),
                         .heads = heads,
                         .position = {.bias = torch::randn({4, 6, 6})},
                         .causal = true};
  EXPECT_FALSE(ops::attention(in).probabilities.defined());
  in.wants_probabilities = true;
  expect_near_values(ops::attention(in).probabilities, spelled_out(in).probabilities);
}

TEST(Attention, AQueryThatMayAttendToNoKeyGivesZeros) {
  const auto qkv = torch::randn({1, 3, 12}).requires_grad_();
  const auto output =
      ops::attention(
          {.query = qkv, .heads = {1, 1, 4, 4}, .padding_mask = torch::zeros({1, 3}, torch::kBool)})
          .values;
  EXPECT_EQ(output.abs().max().item<double>(), 0.0);
  EXPECT_TRUE(weighted_gradients(output, {qkv})[0].isfinite().all().item<bool>());
}

/// What a whole causal sequence gives, step by step, `gradients(t)` saying whether step t records
/// gradients, for which another back end serves.
template <class Gradients>
void expect_steps(const Heads& heads, Gradients&& gradients) {
  torch::manual_seed(5);
  const int64_t length = 6, width = heads.query_width() + heads.key_width() + heads.value_width();
  const auto qkv = torch::randn({2, length, width});
  const auto bias = torch::randn({heads.count, length, length});
  const auto whole =
      spelled_out({.query = qkv, .heads = heads, .position = {.bias = bias}, .causal = true});
  auto cache = ops::empty_cache(torch::empty({2, 1, 8}), heads);
  for (int64_t t = 0; t < length; ++t) {
    const torch::AutoGradMode mode(gradients(t));
    const auto output =
        ops::attention({.query = qkv.narrow(1, t, 1).contiguous(),
                        .heads = heads,
                        .position = {.bias = bias.narrow(1, t, 1).narrow(2, 0, t + 1).contiguous()},
                        .causal = true},
                       cache);
    expect_near_values(output.values, whole.values.narrow(1, t, 1));
  }
}

TEST(Attention, StepsEqualTheWholeSequenceWhicheverBackEndRunsThem) {
  for (const Heads& heads : std::vector<Heads>{{2, 2, 3, 4}, {4, 2, 3, 5}}) {
    expect_steps(heads, [](int64_t) { return true; });
    expect_steps(heads, [](int64_t) { return false; });
    expect_steps(heads, [](int64_t t) { return t % 2 == 0; });
    expect_steps(heads, [](int64_t t) { return t < 3; });
    expect_steps(heads, [](int64_t t) { return t > 2; });
  }
}

TEST(Attention, RowsOfTheCacheFollowTheBeam) {
  const Heads heads{2, 2, 3, 4};
  const int64_t width = heads.query_width() + heads.key_width() + heads.value_width();
  const auto order = torch::tensor({1, 1, 0});
  for (const bool gradients : {false, true}) {
    const torch::AutoGradMode mode(gradients);
    torch::manual_seed(6);
    const auto first = torch::randn({2, 1, width}), second = torch::randn({3, 1, width});
    auto cache = ops::empty_cache(torch::empty({2, 1, 8}), heads);
    ops::attention({.query = first, .heads = heads, .causal = true}, cache);
    cache.reorder(order);
    const auto output =
        ops::attention({.query = second, .heads = heads, .causal = true}, cache).values;
    const auto both = torch::cat({first.index_select(0, order), second}, 1);
    const auto whole = spelled_out({.query = both, .heads = heads, .causal = true}).values;
    expect_near_values(output, whole.narrow(1, 1, 1));
  }
}

TEST(Attention, QueriesReadTheRowOfTheMemoryThatTheBeamSays) {
  const Heads heads{2, 2, 3, 4};
  torch::manual_seed(6);
  const auto memory = torch::randn({2, 5, heads.key_width() + heads.value_width()});
  const auto query = torch::randn({3, 1, heads.query_width()});
  const auto mask =
      torch::tensor({true, true, true, true, true, true, true, false, false, false}).view({2, 5});
  const auto rows = torch::tensor({1, 0, 1});
  const auto expected = spelled_out({.query = query,
                                     .key_value = memory.index_select(0, rows),
                                     .heads = heads,
                                     .padding_mask = mask.index_select(0, rows)})
                            .values;
  for (const bool gradients : {false, true}) {
    const torch::AutoGradMode mode(gradients);
    auto cache = ops::cache_of(memory, heads);
    cache.reorder(rows);
    for (int round = 0; round < 2; ++round)
      expect_near_values(
          ops::attention({.query = query, .heads = heads, .padding_mask = mask}, cache).values,
          expected);
  }
}

}  // namespace
}  // namespace ablate::models
