#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/initialization_options.h"
#include "models/stack_options.h"

namespace ablate::models {

enum class Family { encoder_decoder, decoder_only, encoder_only };

constexpr auto names(Family) {
  return std::to_array<std::pair<Family, std::string_view>>(
      {{Family::encoder_decoder, "encoder_decoder"},
       {Family::decoder_only, "decoder_only"},
       {Family::encoder_only, "encoder_only"}});
}

/// Whether models of a family have a side.
constexpr bool has_side(Family family, Side side) {
  return family == Family::encoder_decoder ||
         (family == Family::encoder_only) == (side == Side::encoder);
}

/// Which of source embedding, target embedding and output projection are one matrix. A family with
/// one embedding has it as source and target.
enum class Tying { three_way, embeddings, target, source, none };

constexpr auto names(Tying) {
  return std::to_array<std::pair<Tying, std::string_view>>({{Tying::three_way, "three_way"},
                                                            {Tying::embeddings, "embeddings"},
                                                            {Tying::target, "target"},
                                                            {Tying::source, "source"},
                                                            {Tying::none, "none"}});
}

/// Whether source and target embedding are one matrix in an encoder-decoder.
constexpr bool one_embedding(Tying tying) {
  return tying == Tying::three_way || tying == Tying::embeddings;
}

/// Whether the source embedding is another matrix of the model, which needs one vocabulary.
constexpr bool shares_source(Tying tying) { return one_embedding(tying) || tying == Tying::source; }

/// Attention of the decoder over the encoder's output.
using CrossAttentionOptions = std::variant<Same, MultiHead, NoAttention>;

enum class Pool { first, mean };

constexpr auto names(Pool) {
  return std::to_array<std::pair<Pool, std::string_view>>(
      {{Pool::first, "first"}, {Pool::mean, "mean"}});
}

/// Members of every head.
struct Head {
  double scale = 1.0;

  static void fields(auto& o, auto&& visit) {
    visit("scale", o.scale, "what logits are multiplied by, as muP does (Yang et al. 2022)");
  }
  static void rules(const Head& o, auto&& require) {
    require(o.scale > 0 && o.scale <= 1000, "scale", "must be above 0 and at most 1000");
  }
};

/// Logits of the vocabulary's tokens at every position.
struct LmHead : Head {
  static constexpr std::string_view name = "tokens";
};

/// Logits of the class of a whole sequence (Devlin et al. 2018, section 4.1).
struct LabelHead : Head {
  static constexpr std::string_view name = "label";
  Pool pool = Pool::first;

  static void fields(auto& o, auto&& visit) {
    Head::fields(o, visit);
    visit("pool", o.pool,
          "first: the output at the start token, as at BERT's [CLS]; mean: of all positions");
  }
};

using HeadOptions = std::variant<LmHead, LabelHead>;

/// A Transformer; the defaults are the base model of Vaswani et al. 2017.
struct TransformerOptions {
  Family family = Family::encoder_decoder;
  int64_t d_model = 512;
  int64_t layers = 6;
  AttentionOptions attention;
  OrSame<AttentionOptions> other_attention;
  MixerPattern pattern;
  CrossAttentionOptions cross_attention;
  FeedForwardOptions feed_forward;
  PositionOptions position = Sinusoidal{};
  OrSame<PositionOptions> other_position;
  PositionIdsOptions position_ids;
  NormOptions norm;
  ResidualOptions residual;
  Block block = Block::sequential;
  ShareOptions share;
  bool bias = true;
  bool embedding_scale = true;
  Tying tying = Tying::three_way;
  double dropout = 0.1;
  HeadOptions output;
  InitializationOptions initialization;
  ParametrizationOptions parametrization;
  SideOptions encoder, decoder;

  static void fields(auto& o, auto&& visit) {
    visit("family", o.family, "encoder_decoder, decoder_only or encoder_only");
    visit("d_model", o.d_model, "width of the residual stream");
    visit("layers", o.layers, "layers of the encoder and of the decoder");
    visit("attention", o.attention, "what mixes the positions of a sequence");
    visit("other_attention", o.other_attention,
          "what mixes positions in the layers that are other in the pattern");
    visit("pattern", o.pattern,
          "the mixers of a stack's layers, repeated: [attention, other, other] has model.attention "
          "in the first layer, the fourth and so on; []: attention in all");
    visit("cross_attention", o.cross_attention,
          "attention of the decoder over the encoder's output; same: as model.attention");
    visit("feed_forward", o.feed_forward, "position-wise feed-forward");
    visit("position", o.position, "how the model knows positions");
    visit("other_position", o.other_position,
          "how the layers know positions that are other in the pattern: none, or what acts inside "
          "attention; same: model.position");
    visit("position_ids", o.position_ids,
          "which ids the position scheme knows the tokens of a sequence by");
    visit("norm", o.norm, "normalisation");
    visit("residual", o.residual, "how sub-layers join the residual stream");
    visit("block", o.block,
          "sequential: each sub-layer reads what those before it have added; parallel: all read "
          "the layer's input through one norm");
    visit("share", o.share, "layers of a stack that are one and the same");
    visit("bias", o.bias, "biases of projections and norms");
    visit("embedding_scale", o.embedding_scale, "multiply embeddings by sqrt(d_model)");
    visit("tying", o.tying,
          "one matrix: three_way, embeddings (source = target), target (target = output), source "
          "(source = output) or none");
    visit("dropout", o.dropout, "on sub-layer outputs and on embedding sums");
    visit("output", o.output,
          "what is predicted: tokens, or the label of an encoder's whole input");
    visit("initialization", o.initialization, "how parameters start");
    visit("parametrization", o.parametrization,
          "what learning rates, first values and scales make of the model's width");
    visit("encoder", o.encoder, "what the encoder has of its own");
    visit("decoder", o.decoder, "what the decoder has of its own");
  }
  static void rules(const TransformerOptions& o, auto&& require);
};

/// The attention over the encoder's output, which has no window; nothing where there is none.
inline std::optional<MultiHead> cross_attention_of(const TransformerOptions& o) {
  if (o.family != Family::encoder_decoder) return {};
  if (const auto* own = std::get_if<MultiHead>(&o.cross_attention)) return *own;
  const auto* shared = std::get_if<MultiHead>(&o.attention);
  if (!std::holds_alternative<Same>(o.cross_attention) || shared == nullptr) return {};
  auto same = *shared;
  same.window.reset();
  return same;
}

/// The side's own choices.
inline const SideOptions& own_of(const TransformerOptions& o, Side which) {
  return which == Side::encoder ? o.encoder : o.decoder;
}

/// Which mixers the layers of a side have, one after another.
inline MixerPattern pattern_of(const TransformerOptions& o, Side which) {
  return own_of(o, which).pattern.value_or(o.pattern);
}

/// What a side's layers have that are `other` in its pattern.
inline OrSame<AttentionOptions> other_attention_of(const TransformerOptions& o, Side which) {
  const auto& own = own_of(o, which).other_attention;
  return std::holds_alternative<Same>(own) ? o.other_attention : own;
}

/// How these layers know positions; nothing where it is as the others do.
inline std::optional<PositionOptions> other_position_of(const TransformerOptions& o, Side which) {
  const auto& own = own_of(o, which).other_position;
  const auto& other = std::holds_alternative<Same>(own) ? o.other_position : own;
  if (std::holds_alternative<Same>(other)) return {};
  return chosen(other, PositionOptions{});
}

/// Wang et al. 2022, figure 2.
inline DeepNorm deepnorm_of(const TransformerOptions& o, Side which) {
  const auto layers = [&](Side side) {
    return static_cast<double>(own_of(o, side).layers.value_or(o.layers));
  };
  const double encoder = layers(Side::encoder), decoder = layers(Side::decoder);
  if (o.family != Family::encoder_decoder)
    return {.alpha = std::pow(2 * layers(which), 0.25), .beta = std::pow(8 * layers(which), -0.25)};
  if (which == Side::decoder)
    return {.alpha = std::pow(3 * decoder, 0.25), .beta = std::pow(12 * decoder, -0.25)};
  const double both = std::pow(std::pow(encoder, 4) * decoder, 1.0 / 16);
  return {.alpha = 0.81 * both, .beta = 0.87 / both};
}

/// The choices of one stack.
inline StackOptions stack_of(const TransformerOptions& o, Side which) {
  const auto& side = own_of(o, which);
  const bool decodes = which == Side::decoder;
  const auto attention = chosen(side.attention, o.attention);
  return {.d_model = o.d_model,
          .layers = side.layers.value_or(o.layers),
          .causal = decodes,
          .attention = attention,
          .other_attention = chosen(other_attention_of(o, which), attention),
          .pattern = pattern_of(o, which),
          .cross_attention = decodes ? cross_attention_of(o) : std::nullopt,
          .feed_forward = chosen(side.feed_forward, o.feed_forward),
          .position = chosen(side.position, o.position),
          .other_position = other_position_of(o, which),
          .position_ids = o.position_ids,
          .norm = {.kind = side.norm.kind.value_or(o.norm.kind),
                   .placement = side.norm.placement.value_or(o.norm.placement),
                   .alpha = side.norm.alpha.value_or(o.norm.alpha)},
          .residual = side.residual.over(o.residual),
          .deepnorm = deepnorm_of(o, which),
          .block = side.block.value_or(o.block),
          .share = {.layers = side.share.layers ? side.share.layers : o.share.layers,
                    .order = side.share.order.value_or(o.share.order)},
          .bias = o.bias,
          .initialization = o.initialization,
          .parametrization = o.parametrization};
}

void family_rules(const TransformerOptions& o, auto& require) {
  const bool pair = o.family == Family::encoder_decoder;
  const bool labels = std::holds_alternative<LabelHead>(o.output);
  require(!labels || o.family == Family::encoder_only, "output.kind",
          "can be label in an encoder_only model alone");
  require(!labels || o.tying == Tying::none, "tying",
          "must be none where model.output is label: classes are no tokens");
  require(pair || o.tying == Tying::three_way || o.tying == Tying::none, "tying",
          "must be three_way or none in a family with one embedding");
  require(has_side(o.family, Side::encoder) || !o.encoder.chooses(), "encoder",
          "has no effect: a decoder_only model has no encoder");
  require(has_side(o.family, Side::decoder) || !o.decoder.chooses(), "decoder",
          "has no effect: an encoder_only model has no decoder");
}

void cross_attention_rules(const TransformerOptions& o, auto& require) {
  const bool pair = o.family == Family::encoder_decoder;
  const bool same = std::holds_alternative<Same>(o.cross_attention);
  require(pair || same, "cross_attention",
          "has no effect: only an encoder_decoder model has cross-attention");
  require(!pair || !same || std::holds_alternative<MultiHead>(o.attention), "cross_attention.kind",
          "cannot be same where model.attention is not multi_head; choose multi_head or none");
  const auto cross = cross_attention_of(o);
  require(!cross || !cross->window, "cross_attention.window",
          "has no effect: targets and sources have no distance");
  require(!cross || cross->divides(o.d_model), same ? "attention.heads" : "cross_attention.heads",
          "must divide d_model unless d_k and d_v are given");
}

/// A pattern needs both mixers, and the other mixer needs a pattern.
void pattern_rules(const TransformerOptions& o, auto& require) {
  const auto complete = [&](const MixerPattern& pattern, const std::string& path) {
    const auto has = [&](MixerChoice one) {
      return std::ranges::find(pattern, one) != pattern.end();
    };
    require(pattern.empty() || (has(MixerChoice::attention) && has(MixerChoice::other)), path,
            "must have both attention and other, or be []");
  };
  complete(o.pattern, "pattern");
  bool reads_pattern = false, reads_other = false, knows_other = false;
  for (const auto side : {Side::encoder, Side::decoder}) {
    if (!has_side(o.family, side)) continue;
    const auto& own = own_of(o, side);
    const std::string path = side == Side::encoder ? "encoder." : "decoder.";
    if (own.pattern) complete(*own.pattern, path + "pattern");
    const bool mixes = !pattern_of(o, side).empty();
    const bool same = std::holds_alternative<Same>(own.other_attention);
    const bool knows_same = std::holds_alternative<Same>(own.other_position);
    reads_pattern = reads_pattern || !own.pattern;
    reads_other = reads_other || (mixes && same);
    knows_other = knows_other || (mixes && knows_same);
    require(mixes || same, path + "other_attention", "has no effect: the side's pattern is []");
    require(mixes || knows_same, path + "other_position",
            "has no effect: the side's pattern is []");
    require(!mixes || !std::holds_alternative<Same>(other_attention_of(o, side)),
            (own.pattern ? path : "") + "other_attention.kind",
            "cannot be same where the pattern has other layers; choose what they have");
  }
  require(reads_pattern || o.pattern.empty(), "pattern",
          "has no effect: each side has a pattern of its own");
  require(reads_other || std::holds_alternative<Same>(o.other_attention), "other_attention",
          "has no effect: no pattern has other layers with it; give a pattern such as "
          "[attention, other]");
  require(knows_other || std::holds_alternative<Same>(o.other_position), "other_position",
          "has no effect: no pattern has other layers with it");
}

void position_rules(const TransformerOptions& o, auto& require) {
  const auto looks_left = [&](const PositionOptions& scheme, bool own, const std::string& key) {
    const auto* alibi = std::get_if<Alibi>(&scheme);
    require(o.family == Family::encoder_only || (o.family == Family::encoder_decoder && !own) ||
                alibi == nullptr || alibi->encoder == Sides::symmetric,
            (own ? "decoder." : "") + key,
            "cannot be two_sided in a decoder, whose heads all look to the left");
  };
  looks_left(chosen(o.decoder.position, o.position),
             !std::holds_alternative<Same>(o.decoder.position), "position.encoder");
  if (const auto other = other_position_of(o, Side::decoder))
    looks_left(*other, !std::holds_alternative<Same>(o.decoder.other_position),
               "other_position.encoder");
  const auto reads = [&](Side side) {
    const auto other = other_position_of(o, side);
    return has_side(o.family, side) &&
           (reads_position_ids(chosen(own_of(o, side).position, o.position)) ||
            (other && reads_position_ids(*other)));
  };
  require(reads(Side::encoder) || reads(Side::decoder) ||
              std::holds_alternative<Consecutive>(o.position_ids),
          "position_ids.kind",
          "has no effect: the position scheme reads no position ids; choose consecutive");
}

void TransformerOptions::rules(const TransformerOptions& o, auto&& require) {
  require(o.d_model >= 1 && o.d_model <= 65'536, "d_model", "must be from 1 to 65536");
  require(o.layers >= 1 && o.layers <= 1000, "layers", "must be from 1 to 1000");
  require(o.dropout >= 0 && o.dropout < 1, "dropout", "must be in [0, 1)");
  family_rules(o, require);
  cross_attention_rules(o, require);
  pattern_rules(o, require);
  position_rules(o, require);
  for (const auto side : {Side::encoder, Side::decoder})
    if (has_side(o.family, side))
      StackRules<std::remove_reference_t<decltype(require)>>{
          stack_of(o, side), own_of(o, side),
          side == Side::encoder ? std::string_view("encoder.") : "decoder.", require}
          .check();
}

}  // namespace ablate::models
