#include "models/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/attention/exclusive.h"
#include "models/attention/value_embedding.h"
#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TEST(Attention, RecordsWhatEachQueryReadsWithoutChangingAnything) {
  torch::NoGradGuard no_grad;
  int64_t seen = 0;
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    const auto source = ids({{5, 6, 7, 8, 2}, {9, 4, 2, 0, 0}});
    const auto target = ids({{1, 4, 5}, {1, 6, 7}});
    std::vector<torch::Tensor> attentions;
    Observer observer;
    observer.attention = [&](const torch::Tensor& p) { attentions.push_back(p); };
    const auto plain = model->hidden(source, target).hidden;
    const auto watched = model->hidden(source, target, {.observer = &observer}).hidden;
    EXPECT_LT(largest_difference(watched, plain), 1e-4) << name;
    for (const auto& heads : attentions) {
      // Padding may find nothing to read.
      for (const auto& rows : {heads[0], heads[1].narrow(-2, 0, 3)})
        if (weights_sum_to_one(options)) {
          EXPECT_LT(largest_difference(rows.sum(-1), torch::ones({1})), 1e-5) << name;
        }
      if (heads.size(-1) == 5)  // the second source has two tokens of padding
        EXPECT_EQ(heads[1].narrow(-1, 3, 2).abs().max().item<float>(), 0) << name;
      else  // a target, of which nothing later is read
        EXPECT_EQ(heads.triu(1).abs().max().item<float>(), 0) << name;
      ++seen;
    }
  }
  EXPECT_GT(seen, 20);
}

/// An encoder of one layer without positions, whose attention is `heads`.
TransformerOptions one_layer(const MultiHead& heads) {
  auto options = tiny("layers: 1");
  options.layer.attention = heads;
  options.layer.position = NoPosition{};
  return options;
}

torch::Tensor encoded(Transformer& model) {
  return model->encode(ids({{5, 6, 7, 8, 9, 2}})).output;
}

torch::Tensor weight_of(Transformer& model, const std::string& name) {
  return model->named_parameters()["encoder.layers.0.attention." + name];
}

/// A model of two layers whose first one has no values.
Transformer without_first_values(ValueResidual residual) {
  auto options = one_layer({.heads = 2, .value_residual = residual});
  options.layers = 2;
  auto model = make(options);
  const torch::NoGradGuard no_grad;
  weight_of(model, "qkv.weight").narrow(0, 32, 16).zero_();
  weight_of(model, "qkv.bias").narrow(0, 32, 16).zero_();
  return model;
}

TEST(ValueResidual, IsTheMeanOfALayersOwnValuesAndOfTheFirstOnes) {
  const torch::NoGradGuard no_grad;
  auto mixed = without_first_values(ValueResidual::fixed);
  auto plain = without_first_values(ValueResidual::none);
  EXPECT_GT(largest_difference(encoded(mixed), encoded(plain)), 1e-3);
  auto second = plain->named_parameters()["encoder.layers.1.attention.qkv.weight"];
  second.narrow(0, 32, 16).mul_(0.5);
  EXPECT_LT(largest_difference(encoded(mixed), encoded(plain)), 1e-6)
      << "with first values of zero, half of the second ones are left";
}

TEST(ValueResidual, ThatIsLearnedStartsAtTheMeanAndMayTakeTheFirstValuesAlone) {
  const torch::NoGradGuard no_grad;
  auto options = one_layer({.heads = 2, .value_residual = ValueResidual::learned});
  options.layers = 2;
  auto learned = make(options);
  options.layer.attention = MultiHead{.heads = 2, .value_residual = ValueResidual::fixed};
  auto fixed = make(options);
  EXPECT_LT(largest_difference(encoded(learned), encoded(fixed)), 1e-6);
  auto weights = learned->named_parameters();
  weights["encoder.layers.1.attention.value_residual"].copy_(torch::tensor({0.0F, 1.0F}));
  const auto before = encoded(learned);
  weights["encoder.layers.1.attention.qkv.weight"].narrow(0, 32, 16).fill_(7);
  EXPECT_TRUE(torch::equal(encoded(learned), before)) << "its own values count for nothing";
  weight_of(learned, "qkv.weight").narrow(0, 32, 16).mul_(2);
  EXPECT_GT(largest_difference(encoded(learned), before), 1e-3);
}

TEST(ValueEmbedding, AddsTheVectorOfATokenWithAFactorForEachHeadOfKeys) {
  const torch::NoGradGuard no_grad;
  auto options = one_layer({.heads = 4, .key_value_heads = 2, .value_embedding = true});
  auto model = make(options);
  const auto table = weight_of(model, "value_embedding");  // [tokens, 8]
  weight_of(model, "value_gate.weight").zero_();           // factors are 2 sigmoid(0) = 1
  weight_of(model, "qkv.weight").narrow(0, 24, 8).zero_();
  weight_of(model, "qkv.bias").narrow(0, 24, 8).copy_(table[7]);
  const auto same_token = model->encode(ids({{7, 7, 7}})).output;
  weight_of(model, "qkv.bias").narrow(0, 24, 8).copy_(table[7] * 2);
  table.zero_();
  EXPECT_LT(largest_difference(same_token, model->encode(ids({{7, 7, 7}})).output), 1e-5);
}

TEST(ValueEmbedding, GatesItsHeadsByTheInput) {
  const torch::NoGradGuard no_grad;
  const MultiHead heads{.heads = 4, .key_value_heads = 2, .value_embedding = true};
  auto stack = stack_of(one_layer(heads), Side::encoder);
  stack.vocabulary = 5;
  Module owner;
  ValueEmbeddingStage stage(owner, {heads, stack});
  for (auto& parameter : owner.parameters()) parameter.normal_();
  const auto projected = torch::randn({2, 3, 16 + 8 + 8}), x = torch::randn({2, 3, 16});
  const ForwardContext context{.token_ids = ids({{0, 4, 2}, {1, 1, 3}})};
  const auto weights = owner.named_parameters();
  const auto factors = 2 * x.matmul(weights["value_gate.weight"].t()).sigmoid();  // [2, 3, 2]
  auto expected = projected.clone();
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t t = 0; t < 3; ++t)
      for (int64_t group = 0; group < 2; ++group)
        expected[row][t].narrow(0, 24 + 4 * group, 4) +=
            factors[row][t][group] *
            weights["value_embedding"][context.token_ids[row][t]].narrow(0, 4 * group, 4);
  Projections own(projected, heads_of(heads, 16));
  stage.project(own, {x, {}, context});
  EXPECT_LT(largest_difference(own.packed(), expected), 1e-5);
}

TEST(Exclusive, LeavesNothingAlongThePositionsOwnValue) {
  const torch::NoGradGuard no_grad;
  const MultiHead heads{.heads = 4, .key_value_heads = 2, .exclusive = true};
  const auto stack = stack_of(one_layer(heads), Side::encoder);
  Module owner;
  ExclusiveStage stage(owner, {heads, stack});
  const auto x = torch::randn({2, 3, 16}), read = torch::randn({2, 3, 16});
  Projections own(torch::randn({2, 3, 16 + 8 + 8}), heads_of(heads, 16));
  const auto y = stage.read(read, own, {x, {}, {}}).view({2, 3, 2, 2, 4});
  const auto v = own.packed().slice(-1, -8).view({2, 3, 2, 1, 4});
  EXPECT_LT((y * v).sum(-1).abs().max().item<double>(), 1e-5);
  const auto taken = read.view({2, 3, 2, 2, 4}) - y;  // along v
  EXPECT_LT(largest_difference(taken * v.square().sum(-1, true), (taken * v).sum(-1, true) * v),
            1e-4);
  EXPECT_GT(taken.abs().max().item<double>(), 0.1);
}

torch::Tensor output_of(SelfAttention& attention, const torch::Tensor& x) {
  return attention.forward(x, {}, {});
}

TEST(Differential, HeadsReadTheirFirstMapLessAShareOfTheirSecond) {
  const torch::NoGradGuard no_grad;
  const auto stack = stack_of(one_layer({.heads = 2}), Side::encoder);
  SelfAttention differential(MultiHead{.heads = 2, .differential = true}, stack);
  for (auto& parameter : differential.parameters()) parameter.normal_(0, 0.5);
  auto weights = differential.named_parameters();
  weights["out.bias"].zero_();
  const auto x = torch::randn({2, 5, 16});
  x.select(-1, 0).fill_(1);
  const auto with = [&](int64_t map) {  // alone, in heads without differences
    SelfAttention plain(MultiHead{.heads = 2}, stack);
    for (auto& own : plain.named_parameters()) {
      const auto& from = weights[own.key()];
      const bool projected = own.key().starts_with("qkv");
      const auto queries = [&] { return from.slice(0, 0, 32).unflatten(0, {2, 2, 8}); };
      own.value().copy_(
          projected ? torch::cat({queries().select(1, map).flatten(0, 1), from.slice(0, 32)})
                    : from);
    }
    return output_of(plain, x);
  };
  auto& lambda = weights["lambda.weight"];
  const auto expect_share = [&](double logit, double share) {
    lambda.zero_().select(1, 0).fill_(logit);
    EXPECT_LT(largest_difference(output_of(differential, x), with(0) - share * with(1)), 1e-4);
  };
  EXPECT_GT(largest_difference(with(0), with(1)), 0.01);
  expect_share(0, 0.5);
  expect_share(std::log(3.0), 0.75);
  expect_share(-100, 0);
}

/// A causal attention that forgets, with random weights, in two groups of two heads of 4.
struct Forgetful {
  explicit Forgetful(double gate_bias)
      : attention(MultiHead{.heads = 4, .key_value_heads = 2, .forgetting = true}, stack()),
        weights(attention.named_parameters()) {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : attention.parameters()) parameter.normal_(0, 0.5);
    weights["forget.bias"].fill_(gate_bias);
  }

  static StackOptions stack() {
    auto options = one_layer({.heads = 4});
    options.family = Family::decoder_only;
    return stack_of(options, Side::decoder);
  }

  /// Lin et al. 2025, equation 4.
  torch::Tensor by_formula(const torch::Tensor& x) {
    const int64_t length = x.size(1);
    const auto projected = at::linear(x, weights["qkv.weight"], weights["qkv.bias"]);
    const auto part = [&](int64_t from, int64_t width, int64_t heads) {
      return projected.narrow(-1, from, width).unflatten(-1, {heads, 4}).transpose(1, 2);
    };
    const auto of_group = [](const torch::Tensor& y) { return y.repeat_interleave(2, 1); };
    const auto kept = at::linear(x, weights["forget.weight"], weights["forget.bias"]).sigmoid();
    auto scores = part(0, 16, 4).matmul(of_group(part(16, 8, 2)).transpose(2, 3)) / 2.0;
    for (int64_t i = 0; i < length; ++i)
      for (int64_t j = 0; j < length; ++j) {
        const auto share = kept.slice(1, j + 1, i + 1).prod(1).repeat_interleave(2, 1);  // [B, H]
        scores.select(2, i).select(2, j).add_(j <= i ? share.log() : share - INFINITY);
      }
    const auto read = scores.softmax(-1).matmul(of_group(part(24, 8, 2)));
    return at::linear(read.transpose(1, 2).flatten(2), weights["out.weight"], weights["out.bias"]);
  }

  SelfAttention attention;
  torch::OrderedDict<std::string, torch::Tensor> weights;
};

TEST(ForgettingAttention, AddsTheLogarithmsOfWhatIsKeptToTheScores) {
  const torch::NoGradGuard no_grad;
  Forgetful model(0.5);
  const auto x = torch::randn({2, 9, 16});
  EXPECT_LT(largest_difference(output_of(model.attention, x), model.by_formula(x)), 1e-4);
}

TEST(ForgettingAttention, ThatKeepsEverythingIsAttentionAndThatKeepsNothingReadsItself) {
  const torch::NoGradGuard no_grad;
  Forgetful everything(100), nothing(-1000);
  SelfAttention plain(MultiHead{.heads = 4, .key_value_heads = 2}, Forgetful::stack());
  for (auto& own : plain.named_parameters()) own.value().copy_(everything.weights[own.key()]);
  const auto x = torch::randn({2, 9, 16});
  EXPECT_LT(largest_difference(output_of(everything.attention, x), output_of(plain, x)), 1e-4);
  const auto alone = output_of(nothing.attention, x.view({18, 1, 16})).view({2, 9, 16});
  EXPECT_LT(largest_difference(output_of(nothing.attention, x), alone), 1e-4);
}

TEST(ForgettingAttention, RoundsSumsInBfloat16NoMoreThanScores) {
  const torch::NoGradGuard no_grad;
  Forgetful model(0);  // half is kept at each position: sums reach 90
  const auto x = torch::randn({2, 128, 16});
  const auto exact = output_of(model.attention, x);
  model.attention.to(torch::kBFloat16);
  const auto rounded = output_of(model.attention, x.to(torch::kBFloat16)).to(torch::kFloat);
  EXPECT_LT((rounded - exact).norm().item<double>() / exact.norm().item<double>(), 0.02);
}

TEST(QkNorm, MakesTheSizeOfQueriesAndKeysIrrelevant) {
  torch::NoGradGuard no_grad;
  for (const auto norm : {QkNorm::rms, QkNorm::layer})
    for (const int64_t groups : {1, 2}) {
      auto model = make(one_layer({.heads = 2, .key_value_heads = groups, .qk_norm = norm}));
      const auto before = encoded(model);
      weight_of(model, "qkv.weight").narrow(0, 0, 16 + 8 * groups).mul_(3);
      EXPECT_LT(largest_difference(encoded(model), before), 1e-4);
      weight_of(model, "query_norm.weight").mul_(3);
      EXPECT_GT(largest_difference(encoded(model), before), 1e-3);
    }
}

TEST(AttentionScale, IsThatOfLongerQueries) {
  torch::NoGradGuard no_grad;
  auto plain = make(one_layer({.heads = 2})),
       scaled = make(one_layer({.heads = 2, .scale = {.value = 3}}));
  auto learned = make(one_layer({.heads = 2, .scale = {.value = 3, .learned = true}}));
  weight_of(plain, "qkv.weight").narrow(0, 0, 16).mul_(3 * std::sqrt(8.0));
  EXPECT_LT(largest_difference(encoded(scaled), encoded(plain)), 1e-5);
  EXPECT_LT(largest_difference(encoded(learned), encoded(plain)), 1e-5);
  EXPECT_EQ(weight_of(learned, "scale").sizes(), (std::vector<int64_t>{2}));
}

TEST(OutputGate, OfZerosHalvesWhatTheHeadsGive) {
  torch::NoGradGuard no_grad;
  for (const auto gate : {OutputGate::head, OutputGate::element}) {
    auto plain = make(one_layer({.heads = 2})), gated = make(one_layer({.heads = 2, .gate = gate}));
    weight_of(gated, "gate.weight").zero_();
    weight_of(gated, "out.weight").mul_(2);
    EXPECT_LT(largest_difference(encoded(gated), encoded(plain)), 1e-5);
    weight_of(gated, "gate.bias").fill_(-100);
    weight_of(plain, "out.weight").zero_();
    EXPECT_LT(largest_difference(encoded(gated), encoded(plain)), 1e-5);
  }
}

/// Positions of the encoder's output that change with the token at `changed`.
std::vector<int64_t> reached_from(Transformer& model, int64_t changed) {
  auto source = ids({{5, 6, 7, 8, 9, 2}});
  const auto before = model->encode(source).output;
  source[0][changed] = 11;
  const auto moved = (model->encode(source).output - before).abs().amax(-1)[0].gt(1e-6);
  std::vector<int64_t> positions;
  for (int64_t t = 0; t < source.size(1); ++t)
    if (moved[t].item<bool>()) positions.push_back(t);
  return positions;
}

TEST(Window, ShowsAQueryTheKeysNearItOnEveryPath) {
  for (const bool gradients : {false, true}) {
    const torch::AutoGradMode mode(gradients);
    for (const auto& position : std::vector<PositionOptions>{NoPosition{}, T5Bias{}, Shaw{}})
      for (const auto weights : {ScoreFunction::softmax, ScoreFunction::sigmoid}) {
        auto options = one_layer({.heads = 2, .score_function = weights, .window = 2});
        options.layer.position = position;
        auto model = make(options);
        EXPECT_EQ(reached_from(model, 3), (std::vector<int64_t>{2, 3, 4}));
        EXPECT_EQ(reached_from(model, 0), (std::vector<int64_t>{0, 1}));
      }
  }
}

TEST(Window, OfRandomPositionIdsCountsTokens) {
  auto options = one_layer({.heads = 2, .window = 2});
  options.layer.position = Sinusoidal{};
  options.position_ids = Randomized{.range = 1000, .longest = 40};
  auto model = make(options);
  EXPECT_EQ(reached_from(model, 3), (std::vector<int64_t>{2, 3, 4}));
}

TEST(Window, IsNotThatOfTheAttentionOverTheEncodersOutput) {
  torch::NoGradGuard no_grad;
  auto options = tiny("attention.window: 1");
  const auto stack = stack_of(options, Side::decoder);
  EXPECT_FALSE(std::get<MultiHead>(stack.layers.front().cross_attention).window);
  auto model = make(options);
  const auto target = ids({{1, 8}});
  EXPECT_GT(largest_difference(model->forward(ids({{5, 6, 7, 8, 2}}), target),
                               model->forward(ids({{5, 6, 7, 8, 3}}), target)),
            1e-4);
}

}  // namespace
}  // namespace ablate::models
