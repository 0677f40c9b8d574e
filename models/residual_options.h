#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace ablate::models {

enum class NormKind { layer, rms, batch, tanh, none };

constexpr auto names(NormKind) {
  return std::to_array<std::pair<NormKind, std::string_view>>({{NormKind::layer, "layer"},
                                                               {NormKind::rms, "rms"},
                                                               {NormKind::batch, "batch"},
                                                               {NormKind::tanh, "tanh"},
                                                               {NormKind::none, "none"}});
}

enum class NormPlacement { post, pre, both };

constexpr auto names(NormPlacement) {
  return std::to_array<std::pair<NormPlacement, std::string_view>>(
      {{NormPlacement::post, "post"}, {NormPlacement::pre, "pre"}, {NormPlacement::both, "both"}});
}

struct NormOptions {
  NormKind kind = NormKind::layer;
  NormPlacement placement = NormPlacement::post;
  double alpha = 0.5;

  static void fields(auto& o, auto&& visit) {
    visit("kind", o.kind,
          "layer, rms, batch (statistics over the unpadded positions), tanh (DyT: of alpha x, "
          "instead of a norm) or none; a variance or mean square gains an epsilon of 1e-5, where "
          "some models' RMS norm has 1e-6");
    visit("placement", o.placement,
          "post: after the residual sum, as in the paper; pre: before the sub-layer; both: before "
          "the sub-layer and on its output");
    visit("alpha", o.alpha, "of tanh: the first value of its trained factor");
  }
  static void rules(const NormOptions& o, auto&& require) {
    require(o.alpha > 0, "alpha", "must be positive");
  }
};

/// What has a trained factor of its own: nothing, every sub-layer's output (ReZero, Bachlechner et
/// al. 2020), or every channel of it (LayerScale, Touvron et al. 2021).
enum class FactorPer { none, layer, channel };

constexpr auto names(FactorPer) {
  return std::to_array<std::pair<FactorPer, std::string_view>>(
      {{FactorPer::none, "none"}, {FactorPer::layer, "layer"}, {FactorPer::channel, "channel"}});
}

/// What the depth of a stack changes. sqrt: outputs of sub-layers are divided by the root of their
/// number (Yang et al. 2023, Depth-muP). deepnorm: their inputs are multiplied by (2 L)^(1/4) of L
/// layers before they are added, and in an encoder-decoder of N and M layers by
/// 0.81 (N^4 M)^(1/16) and (3 M)^(1/4) (Wang et al. 2022); the smaller first values that belong to
/// it are model.initialization's depth of the same name.
enum class ResidualDepth { none, sqrt, deepnorm };

constexpr auto names(ResidualDepth) {
  return std::to_array<std::pair<ResidualDepth, std::string_view>>(
      {{ResidualDepth::none, "none"},
       {ResidualDepth::sqrt, "sqrt"},
       {ResidualDepth::deepnorm, "deepnorm"}});
}

/// How the output of a sub-layer joins its input.
struct ResidualOptions {
  bool skip = true;
  double start = 1.0;
  FactorPer per = FactorPer::none;
  ResidualDepth depth = ResidualDepth::none;
  double drop = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("skip", o.skip, "whether a sub-layer's input is added to its output");
    visit("start", o.start,
          "what outputs are multiplied by, at first where the factor is trained: 0 for ReZero, 0.1 "
          "or less for LayerScale");
    visit(
        "per", o.per,
        "trained factors: none, one for every sub-layer (layer, ReZero) or one for each channel of "
        "its output (channel, LayerScale)");
    visit(
        "depth", o.depth,
        "sqrt: divide outputs by the root of the number of sub-layers; deepnorm: multiply inputs "
        "by DeepNorm's factor before they are added, to which model.initialization.depth: deepnorm "
        "belongs; none: neither");
    visit("drop", o.drop,
          "share of the sequences that skip the last layer's sub-layers in training, of layer l of "
          "L the part l / L of it; outputs of the others are divided by the share that is left, "
          "so that evaluation scales nothing (stochastic depth, Huang et al. 2016)");
  }
  static void rules(const ResidualOptions& o, auto&& require) {
    require(o.start >= 0 && o.start <= 1000, "start", "must be from 0 to 1000");
    require(o.drop >= 0 && o.drop < 1, "drop", "must be in [0, 1)");
  }
};

/// sequential: each sub-layer reads what those before it have added. parallel: all read the layer's
/// input through one norm (Wang & Komatsuzaki 2021, GPT-J; Chowdhery et al. 2022, PaLM).
enum class Block { sequential, parallel };

constexpr auto names(Block) {
  return std::to_array<std::pair<Block, std::string_view>>(
      {{Block::sequential, "sequential"}, {Block::parallel, "parallel"}});
}

/// In which order shared layers follow each other: 0 1 2 0 1 2, or 0 0 1 1 2 2.
enum class ShareOrder { cycle, sequence };

constexpr auto names(ShareOrder) {
  return std::to_array<std::pair<ShareOrder, std::string_view>>(
      {{ShareOrder::cycle, "cycle"}, {ShareOrder::sequence, "sequence"}});
}

/// Layers that are one and the same at several depths (Dehghani et al. 2019, Universal Transformer;
/// Lan et al. 2020, ALBERT; orders: Takase & Kiyono 2021).
struct ShareOptions {
  std::optional<int64_t> layers;
  ShareOrder order = ShareOrder::cycle;

  static void fields(auto& o, auto&& visit) {
    visit("layers", o.layers, "different layers of a stack; absent: all");
    visit("order", o.order,
          "cycle: the different layers one after another, again and again; sequence: each as often "
          "as it is used, then the next");
  }
  static void rules(const ShareOptions& o, auto&& require) {
    require(!o.layers || *o.layers >= 1, "layers", "must be positive");
  }
};

}  // namespace ablate::models
