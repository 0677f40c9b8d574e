#include <gtest/gtest.h>

#include "models/kv_cache.h"
#include "models/torchscript/torchscript.h"
#include "tests/models/flops.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models::ahead {
namespace {

TransformerOptions with_heads(TransformerOptions options, int64_t heads) {
  options.output = LmHead{.ahead = heads};
  return options;
}

TEST(Ahead, AHeadWithTheWeightsOfTheLastLayerPredictsWhatTheModelDoes) {
  const torch::NoGradGuard no_grad;
  for (const auto family : {Family::encoder_decoder, Family::decoder_only}) {
    auto options = with_heads(tiny(), 2);
    options.family = family;
    auto model = make(options);
    auto weights = model->named_parameters();
    for (auto& item : weights)
      if (const std::string last = "decoder.layers.1."; item.key().starts_with(last))
        weights["decoder.ahead.1." + item.key().substr(last.size())].copy_(item.value());
    const auto output = model->hidden(ids({{5, 6, 7, 2}}), ids({{1, 8, 9}}), {.ahead = 2});
    ASSERT_EQ(output.ahead.size(), 2U);
    EXPECT_TRUE(torch::equal(output.ahead[1], output.hidden));
    EXPECT_FALSE(torch::allclose(output.ahead[0], output.hidden));
  }
}

TEST(Ahead, HeadsInBfloat16StayNearFloat) {
  auto model = make(with_heads(tiny(), 2));
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  const auto exact = model->hidden(source, target, {.ahead = 2}).ahead;
  const auto rounded =
      model->hidden(source, target, {.compute_dtype = torch::kBFloat16, .ahead = 2}).ahead;
  for (size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(rounded[i].scalar_type(), torch::kBFloat16) << i;
    const auto found = rounded[i].to(torch::kFloat);
    EXPECT_LT(rounding_difference(exact[i], found), 0.03) << i;
    EXPECT_GT(largest_difference(exact[i], found), 0.0) << i;
  }
}

TEST(Ahead, HeadsThatDoNotRunChangeNothing) {
  const torch::NoGradGuard no_grad;
  auto plain = make(tiny()), more = make(with_heads(tiny(), 3));
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  auto weights = more->named_parameters();
  for (const auto& item : plain->named_parameters()) weights[item.key()].copy_(item.value());
  for (const int64_t heads : {0, 1, 3}) {
    const auto output = more->hidden(source, target, {.ahead = heads});
    EXPECT_EQ(std::ssize(output.ahead), heads);
    EXPECT_TRUE(torch::equal(output.hidden, plain->hidden(source, target).hidden)) << heads;
  }
}

TEST(Ahead, SeveralTokensOnAFilledCacheAreWhatTheWholeSequenceIs) {
  const torch::NoGradGuard no_grad;
  const auto source = ids({{5, 6, 7, 2}, {9, 2, 0, 0}});
  const auto target = ids({{1, 8, 9, 10, 11, 12}, {1, 4, 5, 6, 7, 3}});
  int64_t seen = 0;
  for (const auto& [name, plain] : variants()) {
    auto options = plain;
    const auto* head = std::get_if<LmHead>(&options.output);
    if (head == nullptr || !can_forget(options) || options.share.layers) continue;
    if (std::holds_alternative<NoMix>(options.residual_mix) &&
        !std::holds_alternative<MixtureOptions>(
            stack_of(options, Side::decoder).last_layer().feed_forward))
      std::get<LmHead>(options.output).ahead = 2;
    const ForwardContext context{.ahead = heads_ahead(options)};
    auto model = make(options);
    const auto full = model->hidden(source, target, context);
    auto cache = model->prefill(source, context);
    model->extend(target.slice(1, 0, 2), cache, context);
    model->extend(ids({{3, 4, 3}, {8, 9, 8}}), cache, context);  // to be forgotten
    cache.keep_first(2);
    const auto rest = model->extend(target.slice(1, 2), cache, context);
    EXPECT_LT(rounding_difference(full.hidden.slice(1, 2), rest.hidden), 1e-5) << name;
    ASSERT_EQ(rest.ahead.size(), full.ahead.size());
    for (size_t i = 0; i < rest.ahead.size(); ++i)
      EXPECT_LT(rounding_difference(full.ahead[i].slice(1, 2), rest.ahead[i]), 1e-5) << name;
    seen += std::ssize(rest.ahead);
  }
  EXPECT_GT(seen, 100) << "most variants attend";
}

TEST(Ahead, HeadsReadTheFirstValuesOfTheLayerBesideThem) {
  const torch::NoGradGuard no_grad;
  auto model =
      make(with_heads(tiny("family: decoder_only, layers: 1, attention.value_residual: fixed"), 2));
  const auto target = ids({{1, 8, 9, 10, 11}});
  const ForwardContext context{.ahead = 2};
  const auto full = model->hidden(target, target, context);
  auto cache = model->prefill(target.slice(1, 0, 0), context);
  const auto steps = model->extend(target, cache, context);
  EXPECT_LT(rounding_difference(full.hidden, steps.hidden), 1e-5);
  ASSERT_EQ(steps.ahead.size(), 2U);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_LT(rounding_difference(full.ahead[i], steps.ahead[i]), 1e-5) << i;
}

TEST(Ahead, AStateCannotBeReadByParts) {
  const torch::NoGradGuard no_grad;
  auto options =
      tiny("attention: lstm, cross_attention: {kind: multi_head, heads: 2}, position: none");
  EXPECT_FALSE(can_forget(options));
  auto model = make(options);
  auto cache = model->prefill(ids({{5, 6}}));
  model->extend(ids({{1, 8}}), cache, {});
  EXPECT_THROW(model->extend(ids({{9, 10}}), cache, {}), c10::Error);
}

TEST(Ahead, WhatCountsCannotForget) {
  EXPECT_TRUE(can_forget(tiny("feed_forward: moe")));
  EXPECT_FALSE(
      can_forget(tiny("feed_forward: {kind: moe, capacity: {kind: limited, evaluation: 1}}")))
      << "experts count the positions that they took";
  EXPECT_FALSE(can_forget(tiny("attention.forgetting: true")));
  EXPECT_FALSE(can_forget(tiny("canon.places: [a]")));
}

TEST(Ahead, ACacheForgetsBlocksAndPartsOfBlocks) {
  // Keys of two rows, of which the second has 10 more.
  const auto block = [](std::vector<float> keys) -> KVCache::Block {
    const auto first = torch::tensor(keys);
    const auto key = torch::stack({first, first + 10}).view({2, 1, -1, 1});
    return {key, key + 100};
  };
  for (int64_t count = 0; count <= 5; ++count) {
    KVCache cache;
    for (const auto& keys : std::vector<std::vector<float>>{{1}, {2, 3}, {4, 5}})
      cache.append_block(block(keys));
    cache.reorder(torch::tensor({1, 0}));
    cache.keep_first(count);
    cache.append_block(block({9}));
    const auto& left = cache.concatenate();
    const auto old = torch::arange(1., 1. + static_cast<double>(count)), own = torch::tensor({9.F});
    const auto keys = torch::stack({torch::cat({old + 10, own}), torch::cat({old, own + 10})});
    EXPECT_TRUE(torch::equal(left[0].flatten(1), keys)) << count;
    EXPECT_TRUE(torch::equal(left[1].flatten(1), keys + 100)) << count;
  }
}

TEST(Ahead, AHeadCostsALayerAndAProjectionToTheVocabulary) {
  constexpr Vocabulary kTwenty{20, 20, 0};
  constexpr PassExtent kExtent{.rows = 3, .source = 5, .target = 7};
  auto options = tiny("family: decoder_only");
  auto deeper = options;
  ++deeper.layers;
  const auto flops = [&](const TransformerOptions& o) {
    return forward_flops(o, kTwenty, kExtent);
  };
  const double projection = 2.0 * 3 * 7 * static_cast<double>(options.d_model) * 20;
  PassFlops passes(*Transformer(with_heads(options, 3), kTwenty));
  EXPECT_EQ(passes.training(kExtent, 2) - passes.training(kExtent),
            2 * 3 * (flops(deeper) - flops(options) + projection));
  EXPECT_EQ(flops(with_heads(options, 3)), flops(options)) << "which no evaluation runs";
}

TEST(Ahead, AnExportedModelWritesAsBefore) {
  const torch::NoGradGuard no_grad;
  auto model = make(with_heads(tiny(), 1));
  const auto module = to_torchscript(model, {.pad = 0, .bos = 1, .eos = 2, .start = 1});
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  EXPECT_TRUE(torch::allclose(module.get_method("forward")({source, target}).toTensor(),
                              model->forward(source, target)));
}

}  // namespace
}  // namespace ablate::models::ahead
