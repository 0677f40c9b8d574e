#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "models/position/position_options.h"

namespace ablate::models {

enum class Family { encoder_decoder };

constexpr auto names(Family) {
  return std::to_array<std::pair<Family, std::string_view>>(
      {{Family::encoder_decoder, "encoder_decoder"}});
}

/// Multi-head attention (Vaswani et al. 2017, section 3.2.2) with free key and value widths.
struct AttentionOptions {
  int64_t heads = 8;
  std::optional<int64_t> d_k;
  std::optional<int64_t> d_v;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("heads", o.heads, "attention heads");
    visit("d_k", o.d_k, "width of a query and a key; absent: d_model / heads");
    visit("d_v", o.d_v, "width of a value; absent: d_model / heads");
  }
  template <class Require>
  static void rules(const AttentionOptions& o, Require&& require) {
    require(o.heads >= 1 && o.heads <= 1024, "heads", "must be from 1 to 1024");
    require(!o.d_k || (*o.d_k >= 1 && *o.d_k <= 65'536), "d_k", "must be from 1 to 65536");
    require(!o.d_v || (*o.d_v >= 1 && *o.d_v <= 65'536), "d_v", "must be from 1 to 65536");
  }
};

enum class Activation { relu, gelu, silu };

constexpr auto names(Activation) {
  return std::to_array<std::pair<Activation, std::string_view>>(
      {{Activation::relu, "relu"}, {Activation::gelu, "gelu"}, {Activation::silu, "silu"}});
}

/// Position-wise feed-forward (section 3.3).
struct DenseFeedForward {
  static constexpr std::string_view name = "dense";
  int64_t d_hidden = 2048;
  Activation activation = Activation::relu;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("d_hidden", o.d_hidden, "width of the hidden layer");
    visit("activation", o.activation, "relu, gelu or silu");
  }
  template <class Require>
  static void rules(const DenseFeedForward& o, Require&& require) {
    require(o.d_hidden >= 1 && o.d_hidden <= 1'048'576, "d_hidden", "must be from 1 to 1048576");
  }
};

using FeedForwardOptions = std::variant<DenseFeedForward>;

enum class NormKind { layer };

constexpr auto names(NormKind) {
  return std::to_array<std::pair<NormKind, std::string_view>>({{NormKind::layer, "layer"}});
}

enum class NormPlacement { post, pre };

constexpr auto names(NormPlacement) {
  return std::to_array<std::pair<NormPlacement, std::string_view>>(
      {{NormPlacement::post, "post"}, {NormPlacement::pre, "pre"}});
}

struct NormOptions {
  NormKind kind = NormKind::layer;
  NormPlacement placement = NormPlacement::post;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("kind", o.kind, "layer");
    visit("placement", o.placement, "post: after the residual sum, as in the paper; pre: before");
  }
  template <class Require>
  static void rules(const NormOptions&, Require&&) {}
};

/// Which of source embedding, target embedding and output projection are one matrix.
enum class Tying { three_way, target, none };

constexpr auto names(Tying) {
  return std::to_array<std::pair<Tying, std::string_view>>(
      {{Tying::three_way, "three_way"}, {Tying::target, "target"}, {Tying::none, "none"}});
}

/// The Transformer of Vaswani et al. 2017; the defaults are the paper's base model.
struct TransformerOptions {
  Family family = Family::encoder_decoder;
  int64_t d_model = 512;
  int64_t layers = 6;
  AttentionOptions attention;
  FeedForwardOptions feed_forward;
  PositionOptions position = Sinusoidal{};
  NormOptions norm;
  Tying tying = Tying::three_way;
  double dropout = 0.1;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("family", o.family, "encoder_decoder");
    visit("d_model", o.d_model, "width of the residual stream");
    visit("layers", o.layers, "layers of the encoder and of the decoder");
    visit("attention", o.attention, "multi-head attention");
    visit("feed_forward", o.feed_forward, "position-wise feed-forward");
    visit("position", o.position, "how the model knows positions");
    visit("norm", o.norm, "normalisation");
    visit("tying", o.tying, "three_way, target (target embedding = output) or none");
    visit("dropout", o.dropout, "on sub-layer outputs and on embedding sums");
  }
  template <class Require>
  static void rules(const TransformerOptions& o, Require&& require) {
    require(o.d_model >= 1 && o.d_model <= 65'536, "d_model", "must be from 1 to 65536");
    require(o.layers >= 1 && o.layers <= 1000, "layers", "must be from 1 to 1000");
    require(o.dropout >= 0 && o.dropout < 1, "dropout", "must be in [0, 1)");
    const auto* learned = std::get_if<Learned>(&o.position);
    require(learned == nullptr || learned->beyond != Beyond::interpolate, "position.beyond",
            "cannot be interpolate in a decoder, which does not know how long its output will be");
    const auto* rotary = std::get_if<Rotary>(&o.position);
    const int64_t width =
        o.attention.d_k.value_or(o.d_model / std::max<int64_t>(1, o.attention.heads));
    require(rotary == nullptr || rotary->fraction * static_cast<double>(width) >= 2,
            "position.fraction", "must leave at least two dimensions of a head to turn");
    const bool divides = o.attention.heads < 1 || o.d_model % o.attention.heads == 0;
    require(divides || (o.attention.d_k && o.attention.d_v), "attention.heads",
            "must divide d_model unless d_k and d_v are given");
  }
};

}  // namespace ablate::models
