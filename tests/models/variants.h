#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/transformer_options.h"

namespace ablate::models {

inline TransformerOptions tiny() {
  return {.d_model = 16,
          .layers = 2,
          .attention = MultiHead{.heads = 2},
          .feed_forward = DenseFeedForward{.d_hidden = 24},
          .dropout = 0.0};
}

using Variant = std::pair<std::string, TransformerOptions>;

/// Every position scheme with every option that changes what it computes.
inline std::vector<Variant> position_variants() {
  const std::vector<std::pair<std::string, PositionOptions>> schemes = {
      {"none", NoPosition{}},
      {"sinusoidal", Sinusoidal{}},
      {"sinusoidal halves", Sinusoidal{.layout = SinusoidalLayout::halves}},
      {"sinusoidal every layer", Sinusoidal{.every_layer = true}},
      {"learned", Learned{.max_length = 40}},
      {"learned clamp", Learned{.max_length = 3, .beyond = Beyond::clamp}},
      {"learned every layer", Learned{.max_length = 40, .every_layer = true}},
      {"rotary half", Rotary{}},
      {"rotary interleaved", Rotary{.layout = RotaryLayout::interleaved}},
      {"rotary partial", Rotary{.fraction = 0.5}},
      {"rotary linear", Rotary{.scaling = LinearScaling{}}},
      {"rotary ntk", Rotary{.scaling = NtkScaling{}}},
      {"rotary yarn", Rotary{.scaling = YarnScaling{.trained_length = 16, .fast = 4}}},
      {"alibi", Alibi{}},
      {"alibi two-sided", Alibi{.encoder = Sides::two_sided}},
      {"t5", T5Bias{.buckets = 8, .max_distance = 16}},
      {"fire", Fire{}},
      {"kerple logarithmic", Kerple{}},
      {"kerple power", Kerple{.kernel = KerpleKernel::power}},
      {"sandwich", Sandwich{.width = 16}},
      {"shaw", Shaw{.max_distance = 3}},
      {"shaw keys", Shaw{.max_distance = 2, .values = false}},
      {"transformer_xl", TransformerXl{}},
      {"cope", Cope{.positions = 4}}};
  std::vector<Variant> variants;
  for (const auto& [name, position] : schemes) {
    variants.emplace_back(name, tiny());
    variants.back().second.position = position;
  }
  return variants;
}

/// The tiny model with one thing changed.
template <class Change>
Variant changed(const std::string& name, Change&& change) {
  auto options = tiny();
  change(options);
  return {name, options};
}

/// Schemes that read position ids, with random ones in training.
inline std::vector<Variant> position_ids_variants() {
  std::vector<Variant> variants;
  const std::vector<std::pair<std::string, PositionOptions>> schemes = {
      {"sinusoidal", Sinusoidal{}},
      {"learned", Learned{.max_length = 50}},
      {"rotary", Rotary{}},
      {"alibi", Alibi{}},
      {"t5", T5Bias{}},
      {"shaw", Shaw{}}};
  for (const auto& [name, position] : schemes)
    variants.push_back(changed("randomized " + name, [&, position = position](auto& o) {
      o.position = position;
      o.position_ids = Randomized{.range = 50, .longest = 40};
    }));
  return variants;
}

/// What may stand in attention's place.
inline std::vector<Variant> mixer_variants() {
  std::vector<Variant> variants;
  const std::vector<std::pair<std::string, AttentionOptions>> mixers = {
      {"no attention", NoAttention{}},
      {"lstm", Lstm{}},
      {"convolution", Convolution{}},
      {"wide convolution", Convolution{.width = 5}},
      {"average", Average{}}};
  for (const auto& [name, mixer] : mixers)
    variants.push_back(changed(name, [mixer = mixer](auto& o) {
      o.attention = mixer;
      o.cross_attention = MultiHead{.heads = 2};
    }));
  return variants;
}

inline std::vector<Variant> norm_variants() {
  std::vector<Variant> variants;
  for (const auto& [kind, kind_name] : names(NormKind{}))
    for (const auto& [placement, placement_name] : names(NormPlacement{}))
      variants.push_back(changed(
          std::string(kind_name) + " " + std::string(placement_name),
          [norm = NormOptions{.kind = kind, .placement = placement}](auto& o) { o.norm = norm; }));
  return variants;
}

/// Mixtures of experts whose output at one position depends on no other position.
inline std::vector<Variant> mixture_variants() {
  std::vector<Variant> variants;
  const std::vector<std::pair<std::string, MixtureOptions>> mixtures = {
      {"softmax", {.active = 2}},
      {"softmax as it is", {.active = 1, .router = SoftmaxRouter{.renormalize = false}}},
      {"switch", {.active = 1, .router = SwitchRouter{}}},
      {"gshard", {.active = 2, .router = GshardRouter{}}},
      {"sigmoid", {.active = 2, .router = SigmoidRouter{}}},
      {"hash", {.active = 2, .router = HashRouter{}}},
      {"gated", {.active = 2, .activation = Activation::silu, .gated = true}},
      {"shared", {.active = 1, .shared_experts = 1, .router = SwitchRouter{}}},
      {"every other layer", {.active = 2, .every = 2}}};
  for (const auto& [name, mixture] : mixtures)
    variants.push_back(changed("experts, " + name, [mixture = mixture](auto& o) {
      auto options = mixture;
      options.experts = 4;
      options.d_hidden = 12;
      o.feed_forward = options;
    }));
  return variants;
}

/// Other positions change how many rows an expert's products have, and with that their rounding;
/// nothing else is ever touched.
inline double rounding(const std::string& variant) {
  return variant.starts_with("experts") ? 1e-5 : 0.0;
}

/// Every option that changes the forward pass, for properties that must hold for all of them.
inline std::vector<Variant> variants() {
  auto all = position_variants();
  for (const auto& more :
       {position_ids_variants(), mixture_variants(), mixer_variants(), norm_variants()})
    all.insert(all.end(), more.begin(), more.end());
  const auto dense = [](Activation activation, bool gated) {
    return DenseFeedForward{.d_hidden = 24, .activation = activation, .gated = gated};
  };
  all.insert(
      all.end(),
      {changed("widths", [](auto& o) { o.attention = MultiHead{.heads = 3, .d_k = 5, .d_v = 7}; }),
       changed("grouped heads",
               [](auto& o) { o.attention = MultiHead{.heads = 4, .key_value_heads = 2}; }),
       changed("one key/value head",
               [](auto& o) {
                 o.attention = MultiHead{.heads = 4, .key_value_heads = 1};
                 o.position = Rotary{};
               }),
       changed("gelu", [&](auto& o) { o.feed_forward = dense(Activation::gelu, false); }),
       changed("swiglu", [&](auto& o) { o.feed_forward = dense(Activation::silu, true); }),
       changed("no feed-forward", [](auto& o) { o.feed_forward = NoFeedForward{}; }),
       changed("no skip", [](auto& o) { o.residual = Skip::off; }),
       changed("learned skip", [](auto& o) { o.residual = Skip::learned; }),
       changed("no bias", [](auto& o) { o.bias = false; }),
       changed("unscaled embeddings", [](auto& o) { o.embedding_scale = false; }),
       changed("scaled logits", [](auto& o) { o.output = LmHead{{.scale = 0.5}}; }),
       changed("mup",
               [](auto& o) {
                 o.parametrization = MaximalUpdate{.base_width = 4};
                 o.initialization = NormalInitialization{{.depth = DepthScaling::sqrt}, 0.1};
               }),
       changed("sides of their own", [&](auto& o) {
         o.encoder.layers = 3;
         o.encoder.norm.placement = NormPlacement::pre;
         o.encoder.position = Alibi{};
         o.decoder.attention = Average{};
         o.decoder.feed_forward = dense(Activation::gelu, true);
         o.decoder.residual = Skip::learned;
       })});
  return all;
}

}  // namespace ablate::models
