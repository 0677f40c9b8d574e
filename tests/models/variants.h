#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/transformer_options.h"

namespace ablate::models {

inline TransformerOptions tiny() {
  return {.d_model = 16,
          .layers = 2,
          .attention = {.heads = 2},
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

/// Every option that changes the forward pass, for properties that must hold for all of them.
inline std::vector<Variant> variants() {
  auto pre = tiny(), widths = tiny(), gelu = tiny();
  pre.norm.placement = NormPlacement::pre;
  widths.attention = {.heads = 3, .d_k = 5, .d_v = 7};
  gelu.feed_forward = DenseFeedForward{.d_hidden = 24, .activation = Activation::gelu};
  auto all = position_variants();
  all.insert(all.end(), {{"post", tiny()}, {"pre", pre}, {"widths", widths}, {"gelu", gelu}});
  return all;
}

}  // namespace ablate::models
