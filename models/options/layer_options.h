#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/options/canon_options.h"
#include "models/options/feed_forward_options.h"
#include "models/options/mixer_options.h"
#include "models/options/ngram_options.h"
#include "models/options/option_traits.h"
#include "models/options/position_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::models {

ABLATE_ENUM(NormKind, layer, rms, batch, tanh, none);
constexpr auto abouts(NormKind) {
  return std::to_array<std::string_view>(
      {"mean and variance of a position's channels become 0 and 1 (Ba et al. 2016, arXiv "
       "1607.06450)",
       "a position's channels divided by the root of their mean square (Zhang & Sennrich 2019, "
       "arXiv 1910.07467)",
       "each channel by its statistics over the unpadded positions (Ioffe & Szegedy 2015, arXiv "
       "1502.03167)",
       "tanh(alpha x) in the place of a norm (Zhu et al. 2025, DyT, arXiv 2503.10622)", "no norm"});
}

ABLATE_ENUM(NormPlacement, post, pre, both);
constexpr auto abouts(NormPlacement) {
  return std::to_array<std::string_view>(
      {"after the residual sum, as in the paper (Vaswani et al. 2017, arXiv 1706.03762)",
       "before the sub-layer (Xiong et al. 2020, arXiv 2002.04745)",
       "before the sub-layer and on its output, as in Gemma 2 (Gemma Team 2024, arXiv "
       "2408.00118)"});
}

struct NormOptions {
  NormKind kind = NormKind::layer;
  NormPlacement placement = NormPlacement::post;
  double epsilon = 1e-5;
  std::optional<bool> bias;
  bool attention = true;
  bool layernorm_scaling = false;
  double alpha = 0.5;

  static void fields(auto& o, auto&& visit) {
    visit("kind", o.kind, "what a norm computes");
    visit("placement", o.placement, "where norms stand");
    visit("epsilon", o.epsilon,
          "what is added to a variance or mean square before its root (layer_norm_eps, "
          "rms_norm_eps)",
          options::from(0, 1));
    visit("bias", o.bias, "bias of the norm, which rms never has; absent: model.bias");
    visit("attention", o.attention,
          "a norm at the attention, too; false: only at the other sub-layers, as in ModernBERT's "
          "first layer, which reads normalised embeddings");
    visit("layernorm_scaling", o.layernorm_scaling,
          "divide what a sub-layer reads by the root of its layer's number, from 1 on, so that "
          "deep layers add as much as others (Sun et al. 2025); for norms before sub-layers");
    visit("alpha", o.alpha, "DyT: initial value of the learnable alpha", options::above(0));
  }
  static void rules(const NormOptions& o, auto&& require) {
    require(
        !o.layernorm_scaling || (o.placement != NormPlacement::post && o.kind != NormKind::none),
        "layernorm_scaling", "needs a norm, and placement pre or both");
  }
};

ABLATE_ENUM(FactorPer, none, layer, channel);
constexpr auto abouts(FactorPer) {
  return std::to_array<std::string_view>(
      {"no factor", "one for each sub-layer (Bachlechner et al. 2020, ReZero, arXiv 2003.04887)",
       "one for each channel (Touvron et al. 2021, LayerScale, arXiv 2103.17239)"});
}

/// How residual connections depend on the depth of a stack. The factor of deepnorm is (2 L)^(1/4)
/// of L layers, and in an encoder-decoder of N and M layers 0.81 (N^4 M)^(1/16) and (3 M)^(1/4).
ABLATE_ENUM(ResidualDepth, none, sqrt, deepnorm);
constexpr auto abouts(ResidualDepth) {
  return std::to_array<std::string_view>(
      {"not by depth",
       "outputs of sub-layers divided by the root of their number (Yang et al. 2023, Depth-muP, "
       "arXiv 2310.02244)",
       "inputs of sub-layers multiplied by a factor before they are added, together with "
       "model.initialization.depth: deepnorm (Wang et al. 2022, arXiv 2203.00555)"});
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
          "factor of sub-layer outputs, or its initial value if it is learned: 0 for ReZero, 0.1 "
          "or less for LayerScale",
          options::from(0, 1000));
    visit("per", o.per, "learned factors of sub-layer outputs");
    visit("depth", o.depth, "how sub-layers are scaled by the depth of the stack");
    visit("drop", o.drop,
          "stochastic depth (Huang et al. 2016): share of the sequences that skip the sub-layers "
          "of the last layer in training, and l / L of it for layer l of L; outputs of the others "
          "are divided by the remaining share, so that evaluation needs no scaling",
          options::from_below(0, 1));
  }
};

ABLATE_ENUM(Block, sequential, parallel, parallel_norms);
constexpr auto abouts(Block) {
  return std::to_array<std::string_view>(
      {"each sub-layer reads what those before it have added (Vaswani et al. 2017, arXiv "
       "1706.03762)",
       "all sub-layers read the layer's input through one norm (Wang & Komatsuzaki 2021, GPT-J; "
       "Chowdhery et al. 2022, PaLM, arXiv 2204.02311)",
       "all sub-layers read the layer's input, each through a norm of its own (Black et al. 2022, "
       "GPT-NeoX, arXiv 2204.06745)"});
}

/// The order of shared layers: 0 1 2 0 1 2, or 0 0 1 1 2 2.
ABLATE_ENUM(ShareOrder, cycle, sequence);

/// Layers that are one and the same at several depths (Dehghani et al. 2019, Universal Transformer;
/// Lan et al. 2020, ALBERT; orders: Takase & Kiyono 2021). With `fewest`, a pass in training ends
/// after a number of rounds that is drawn, so that another number may be chosen in evaluation. With
/// `inject`, every round reads the embedded input again (Geiping et al. 2025, arXiv 2502.05171,
/// section 3, whose rounds begin with a matrix of both instead of their sum).
struct ShareOptions {
  std::optional<int64_t> layers;
  ShareOrder order = ShareOrder::cycle;
  std::optional<int64_t> fewest;
  bool inject = false;

  static void fields(auto& o, auto&& visit) {
    visit("layers", o.layers, "number of different layers in a stack; absent: no sharing",
          options::at_least(1));
    visit("order", o.order,
          "order of three layers in a stack of six: cycle: 1 2 3 1 2 3; sequence: 1 1 2 2 3 3");
    visit(
        "fewest", o.fewest,
        "the fewest layers of a pass in training, whose rounds are drawn from this many layers to "
        "all, each as often; evaluation runs through all; absent: so does training");
    visit("inject", o.inject,
          "add the embedded input to what every round but the first reads (input injection)");
  }
  static void rules(const ShareOptions& o, auto&& require) {
    require(!o.fewest || (o.layers && o.order == ShareOrder::cycle), "fewest",
            "needs share.layers and the order cycle, whose rounds are drawn");
    require(!o.inject || (o.layers && o.order == ShareOrder::cycle), "inject",
            "needs share.layers and the order cycle, which has rounds");
  }
};

/// One of a model's two stacks.
ABLATE_ENUM(Side, encoder, decoder);

inline std::string text_of(Side side) { return side == Side::encoder ? "encoder" : "decoder"; }

struct Same : EmptyOptions {
  static constexpr std::string_view name = "same";
  static constexpr std::string_view about = "the attention of the whole model, without its window";
  static constexpr bool is_sublayer = true;
};

/// Attention of a decoder's layer over the encoder's output.
using CrossAttentionOptions = std::variant<Same, MultiHead, NoAttention>;

/// The options of one layer.
struct LayerOptions {
  AttentionOptions attention;
  CrossAttentionOptions cross_attention;
  FeedForwardOptions feed_forward;
  PositionOptions position = Sinusoidal{};
  NgramOptions ngrams;
  NormOptions norm;
  ResidualOptions residual;
  Block block = Block::sequential;
  CanonOptions canon;

  static void fields(auto& o, auto&& visit) {
    visit("attention", o.attention, "attention, or another mixer of positions");
    visit("cross_attention", o.cross_attention,
          "attention of the decoder over the encoder's output; same: as model.attention");
    visit("feed_forward", o.feed_forward, "position-wise feed-forward");
    visit("position", o.position, "position scheme");
    visit("ngrams", o.ngrams, "what a layer adds from tables of n-grams before its sub-layers");
    visit("norm", o.norm, "normalisation");
    visit("residual", o.residual, "how sub-layers join the residual stream");
    visit("block", o.block, "what the sub-layers of a layer read");
    visit("canon", o.canon, "short convolutions inside a layer (Canon layers)");
  }

  friend bool operator==(const LayerOptions& left, const LayerOptions& right);
};

bool equal(const PositionOptions& left, const PositionOptions& right);
bool equal(const FeedForwardOptions& left, const FeedForwardOptions& right);

/// The different layers of one side; empty: all of them have the model's options.
using SideLayers = std::vector<LayerOptions>;

/// Whether all of these layers have the same options.
inline bool are_alike(const std::vector<LayerOptions>& layers) {
  return std::ranges::adjacent_find(layers, std::not_equal_to()) == layers.end();
}

/// The dense feed-forward that all layers with the same one share; null: the layer has its own.
const DenseFeedForward* shared_feed_forward(const LayerOptions& layer);

/// Whether two layers have the feed-forward that their options say they share.
bool share_feed_forward(const LayerOptions& one, const LayerOptions& other);

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
