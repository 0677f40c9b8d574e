#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/options/transformer_options.h"

namespace ablate::models {

inline TransformerOptions tiny() {
  return {.d_model = 16,
          .layers = 2,
          .layer = {.attention = MultiHead{.heads = 2},
                    .feed_forward = DenseFeedForward{.d_hidden = 24}},
          .dropout = 0.0};
}

using Variant = std::pair<std::string, TransformerOptions>;

/// Changes every layer of a side.
void change_layers(TransformerOptions& options, Side side, auto&& change) {
  for (auto& layer : own_layers(options, side)) change(layer);
}

/// Changes the layers with these numbers, from 1 on, of both sides.
void change_layers(TransformerOptions& options, const std::vector<size_t>& numbers, auto&& change) {
  for (const auto side : {Side::encoder, Side::decoder})
    for (const auto number : numbers) change(own_layers(options, side).at(number - 1));
}

/// The tiny model with one thing changed.
template <class Change>
Variant changed(const std::string& name, Change&& change) {
  auto options = tiny();
  change(options);
  return {name, options};
}

/// Stacks whose layers differ in what their attention sees.
inline std::vector<Variant> attention_change_variants() {
  return {changed("near and far",
                  [](auto& o) {
                    o.layer.position = Rotary{};
                    change_layers(o, {1}, [](auto& layer) {
                      layer.attention = MultiHead{.heads = 2, .window = 2};
                    });
                  }),
          changed("near and far with groups and a bias",
                  [](auto& o) {
                    o.layer.position = T5Bias{};
                    o.layer.attention = MultiHead{.heads = 4, .window = 3};
                    change_layers(o, {2}, [](auto& layer) {
                      layer.attention = MultiHead{.heads = 4, .key_value_heads = 2, .window = 2};
                    });
                  }),
          changed("other heads",
                  [](auto& o) {
                    change_layers(o, {2}, [](auto& layer) {
                      layer.attention = MultiHead{.heads = 4, .d_k = 3, .window = 2};
                    });
                  }),
          changed("rotary near, nothing far",
                  [](auto& o) {
                    o.layer.position = NoPosition{};
                    change_layers(o, {1}, [](auto& layer) {
                      layer.position = Rotary{};
                      layer.attention = MultiHead{.heads = 4, .window = 3};
                    });
                  }),
          changed("two schemes of content", [](auto& o) {
            o.layers = 3;
            o.layer.position = Shaw{.max_distance = 3};
            change_layers(o, {2, 3}, [](auto& layer) {
              layer.position = Cope{.positions = 4};
              layer.attention = MultiHead{.heads = 4};
            });
          })};
}

/// Stacks in which attention and other mixers take turns.
inline std::vector<Variant> hybrid_variants() {
  return {changed("delta and content",
                  [](auto& o) {
                    o.layer.position = Shaw{.max_distance = 3};
                    o.decoder_layers = 3;
                    auto& layers = own_layers(o, Side::decoder);
                    layers[0].attention = layers[1].attention = DeltaRule{{.heads = 4}};
                  }),
          changed("lstm before attention",
                  [](auto& o) {
                    o.layer.position = TransformerXl{};
                    o.layer.attention = Lstm{};
                    o.layer.cross_attention = MultiHead{.heads = 2};
                    change_layers(o, {2},
                                  [](auto& layer) { layer.attention = MultiHead{.heads = 2}; });
                  }),
          changed("attention in every other layer",
                  [](auto& o) {
                    change_layers(o, {2}, [](auto& layer) { layer.attention = NoAttention{}; });
                  }),
          changed("drawn rounds",
                  [](auto& o) {
                    o.layers = 4;
                    o.share = {.layers = 2, .fewest = 2};
                  }),
          changed("injected rounds",
                  [](auto& o) {
                    o.layers = 4;
                    o.share = {.layers = 2, .fewest = 2, .inject = true};
                  }),
          changed("shared layers with two mixers", [](auto& o) {
            o.layers = 4;
            o.share.layers = 2;
            o.layer.position = Cope{.positions = 4};
            change_layers(o, {1}, [](auto& layer) { layer.attention = Convolution{}; });
          })};
}

/// Stacks whose layers differ in anything else.
inline std::vector<Variant> layer_variants() {
  return {
      changed("positions from the second layer on",
              [](auto& o) {
                o.layers = 3;
                change_layers(o, {1}, [](auto& layer) { layer.position = NoPosition{}; });
                change_layers(o, {3}, [](auto& layer) { layer.position = Rotary{}; });
              }),
      changed("learned vectors on top of sines",
              [](auto& o) {
                o.layers = 3;
                change_layers(o, {2, 3}, [](auto& layer) {
                  layer.position = Learned{.max_length = 40, .every_layer = true};
                });
              }),
      changed("one scheme for two numbers of heads",
              [](auto& o) {
                o.layer.position = T5Bias{};
                change_layers(o, {2}, [](auto& layer) { layer.attention = MultiHead{.heads = 4}; });
              }),
      changed("another last norm",
              [](auto& o) {
                o.layer.norm.placement = NormPlacement::pre;
                change_layers(o, {2}, [](auto& layer) { layer.norm.kind = NormKind::rms; });
              }),
      changed("norms before and behind",
              [](auto& o) {
                change_layers(o, {1}, [](auto& layer) {
                  layer.norm.placement = NormPlacement::pre;
                  layer.block = Block::parallel;
                });
              }),
      changed(
          "one layer over the source",
          [](auto& o) { own_layers(o, Side::decoder).front().cross_attention = NoAttention{}; }),
      changed("two shared feed-forwards",
              [](auto& o) {
                o.layers = 4;
                o.layer.feed_forward = DenseFeedForward{.d_hidden = 24, .shared = true};
                change_layers(o, {2, 4}, [](auto& layer) {
                  layer.feed_forward = DenseFeedForward{.d_hidden = 8, .shared = true};
                });
              }),
      changed("residuals of their own", [](auto& o) {
        change_layers(o, {2}, [](auto& layer) {
          layer.residual.per = FactorPer::layer;
          layer.feed_forward = NoFeedForward{};
        });
      })};
}

}  // namespace ablate::models
