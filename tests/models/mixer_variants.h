#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/models/layer_variants.h"

namespace ablate::models {

/// Latent attention, with each kind of position scheme that it allows.
inline std::vector<Variant> latent_variants() {
  std::vector<Variant> variants;
  for (const auto& [name, latent, position] :
       std::vector<std::tuple<std::string, Latent, PositionOptions>>{
           {"latent", {.heads = 2}, Rotary{}},
           {"latent without positions", {.heads = 2, .rank = 3, .shared_d_k = 2}, NoPosition{}},
           {"latent of queries, on a bias",
            {.heads = 4, .rank = 5, .query_rank = 6, .d_k = 3, .shared_d_k = 2, .d_v = 7},
            T5Bias{}},
           {"latent, half turned", {.heads = 2}, Rotary{.fraction = 0.5}}})
    variants.push_back(changed(name, [latent = latent, position = position](auto& o) {
      o.layer.attention = latent;
      o.layer.position = position;
      o.layer.cross_attention = MultiHead{.heads = 2};
    }));
  return variants;
}

/// Mixers in attention's place.
inline std::vector<Variant> mixer_variants() {
  std::vector<Variant> variants;
  const std::vector<std::pair<std::string, AttentionOptions>> mixers = {
      {"no attention", NoAttention{}},
      {"lstm", Lstm{}},
      {"convolution", Convolution{}},
      {"wide convolution", Convolution{.width = 5}},
      {"average", Average{}},
      {"linear attention", LinearAttention{{.heads = 2}}},
      {"retention", LinearAttention{{.heads = 2, .decay = Forgetting::fixed}}}};
  for (const auto& [name, mixer] : mixers)
    variants.push_back(changed(name, [mixer = mixer](auto& o) {
      o.layer.attention = mixer;
      o.layer.cross_attention = MultiHead{.heads = 2};
    }));
  variants.push_back(changed("gated retention", [](auto& o) {
    change_layers(o, Side::decoder, [](auto& layer) {
      layer.attention = LinearAttention{{.heads = 2, .decay = Forgetting::gated}};
    });
  }));
  variants.push_back(changed("linear attention that forgets by channels", [](auto& o) {
    change_layers(o, Side::decoder, [](auto& layer) {
      layer.attention = LinearAttention{{.heads = 2, .decay = Forgetting::channels}};
    });
  }));
  for (const auto& [name, position] : std::vector<std::pair<std::string, PositionOptions>>{
           {"forgetting", NoPosition{}}, {"forgetting on a bias", T5Bias{}}})
    variants.push_back(changed(name, [position = position](auto& o) {
      change_layers(o, Side::decoder, [&](auto& layer) {
        layer.attention = MultiHead{.heads = 4, .key_value_heads = 2, .forgetting = true};
        layer.position = position;
      });
    }));
  for (const auto& [decay, word] : names(Forgetting{}))
    variants.push_back(changed("delta, decay " + std::string(word), [decay = decay](auto& o) {
      change_layers(o, Side::decoder, [&](auto& layer) {
        layer.attention = DeltaRule{{.heads = 2, .decay = decay}};
      });
    }));
  variants.push_back(changed("gated deltanet", [](auto& o) {
    change_layers(o, Side::decoder, [](auto& layer) {
      layer.attention = DeltaRule{{.heads = 2, .decay = Forgetting::gated}, 2, true, true};
    });
  }));
  variants.push_back(changed("mamba2", [](auto& o) {
    change_layers(o, Side::decoder,
                  [](auto& layer) { layer.attention = Mamba2{.heads = 4, .state_size = 3}; });
  }));
  for (const auto& more : latent_variants()) variants.push_back(more);
  return variants;
}

}  // namespace ablate::models
