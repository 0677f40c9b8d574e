#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/attention_options.h"
#include "models/empty_options.h"
#include "models/equal_options.h"
#include "models/feed_forward_options.h"
#include "models/position/position_options.h"
#include "models/residual_options.h"

namespace ablate::models {

/// Which of a model's two stacks is meant.
enum class Side { encoder, decoder };

constexpr auto names(Side) {
  return std::to_array<std::pair<Side, std::string_view>>(
      {{Side::encoder, "encoder"}, {Side::decoder, "decoder"}});
}

inline std::string text_of(Side side) { return side == Side::encoder ? "encoder" : "decoder"; }

/// The attention of the whole model, without its window.
struct Same : EmptyOptions {
  static constexpr std::string_view name = "same";
};

/// Attention of a decoder's layer over the encoder's output.
using CrossAttentionOptions = std::variant<Same, MultiHead, NoAttention>;

/// What one layer is.
struct LayerOptions {
  AttentionOptions attention;
  CrossAttentionOptions cross_attention;
  FeedForwardOptions feed_forward;
  PositionOptions position = Sinusoidal{};
  NormOptions norm;
  ResidualOptions residual;
  Block block = Block::sequential;

  static void fields(auto& o, auto&& visit) {
    visit("attention", o.attention, "what mixes the positions of a sequence");
    visit("cross_attention", o.cross_attention,
          "attention of the decoder over the encoder's output; same: as model.attention");
    visit("feed_forward", o.feed_forward, "position-wise feed-forward");
    visit("position", o.position, "how a layer knows positions");
    visit("norm", o.norm, "normalisation");
    visit("residual", o.residual, "how sub-layers join the residual stream");
    visit("block", o.block,
          "sequential: each sub-layer reads what those before it have added; parallel: all read "
          "the layer's input through one norm");
  }
  static void rules(const LayerOptions&, const auto&) {}  // those of a stack hold for its layers

  friend bool operator==(const LayerOptions& left, const LayerOptions& right) {
    return equal_options(left, right);
  }
};

/// The different layers of one side; empty: all of them are as the model says.
using SideLayers = std::vector<LayerOptions>;

/// Whether all of these layers have the same options.
inline bool are_alike(const std::vector<LayerOptions>& layers) {
  return std::ranges::adjacent_find(layers, std::not_equal_to()) == layers.end();
}

/// The dense feed-forward that all layers with the same one share; null: the layer has its own.
inline const DenseFeedForward* shared_feed_forward(const LayerOptions& layer) {
  const auto* dense = std::get_if<DenseFeedForward>(&layer.feed_forward);
  return dense != nullptr && dense->shared ? dense : nullptr;
}

/// Whether a scheme acts inside multi-head attention.
constexpr bool needs_attention(const PositionOptions& position) {
  return std::visit([]<class Held>(const Held&) { return Held::needs_attention; }, position);
}

/// Whether it matters to a scheme which ids the tokens of a sequence have.
constexpr bool reads_position_ids(const PositionOptions& position) {
  return std::visit([]<class Held>(const Held&) { return Held::reads_position_ids; }, position);
}

/// Whether a scheme adds its vectors to the embeddings, which every later layer then reads.
constexpr bool adds_to_embeddings(const PositionOptions& position) {
  return !needs_attention(position) && !std::holds_alternative<NoPosition>(position);
}

/// Whether a scheme adds its vectors again before every later layer.
constexpr bool adds_in_every_layer(const PositionOptions& position) {
  return std::visit(
      []<class Held>(const Held& held) {
        if constexpr (requires { held.every_layer; })
          return held.every_layer;
        else
          return false;
      },
      position);
}

}  // namespace ablate::models
