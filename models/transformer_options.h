#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/attention_options.h"
#include "models/empty_options.h"
#include "models/feed_forward_options.h"
#include "models/position/position_ids_options.h"
#include "models/position/position_options.h"
#include "models/residual_options.h"

namespace ablate::models {

enum class Family { encoder_decoder, decoder_only, encoder_only };

constexpr auto names(Family) {
  return std::to_array<std::pair<Family, std::string_view>>(
      {{Family::encoder_decoder, "encoder_decoder"},
       {Family::decoder_only, "decoder_only"},
       {Family::encoder_only, "encoder_only"}});
}

/// Which of a model's two stacks is meant.
enum class Side { encoder, decoder };

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

/// The choice of the whole model, in a place that may choose for itself.
struct Same : EmptyOptions {
  static constexpr std::string_view name = "same";
};

template <class Choice>
struct WithSame;
template <class... Options>
struct WithSame<std::variant<Options...>> {
  using type = std::variant<Same, Options...>;
};
/// The alternatives of a choice, and `same` as the default.
template <class Choice>
using OrSame = typename WithSame<Choice>::type;

/// Normalisation of one side; absent: as in the whole model.
struct SideNorm {
  std::optional<NormKind> kind;
  std::optional<NormPlacement> placement;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("kind", o.kind, "layer, rms, batch or none; absent: as in model.norm");
    visit("placement", o.placement, "post, pre or both; absent: as in model.norm");
  }
  template <class Require>
  static void rules(const SideNorm&, Require&&) {}
};

/// What the encoder or the decoder has of its own.
struct SideOptions {
  std::optional<int64_t> layers;
  OrSame<AttentionOptions> attention;
  OrSame<FeedForwardOptions> feed_forward;
  OrSame<PositionOptions> position;
  SideNorm norm;
  std::optional<Skip> residual;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("layers", o.layers, "layers of this side; absent: model.layers");
    visit("attention", o.attention, "what mixes positions; same: model.attention");
    visit("feed_forward", o.feed_forward, "position-wise feed-forward; same: model.feed_forward");
    visit("position", o.position, "how this side knows positions; same: model.position");
    visit("norm", o.norm, "normalisation");
    visit("residual", o.residual, "true, false or learned; absent: model.residual");
  }
  template <class Require>
  static void rules(const SideOptions& o, Require&& require) {
    require(!o.layers || (*o.layers >= 1 && *o.layers <= 1000), "layers", "must be from 1 to 1000");
  }
};

/// Attention of the decoder over the encoder's output.
using CrossAttentionOptions = std::variant<Same, MultiHead, NoAttention>;

enum class Pool { first, mean };

constexpr auto names(Pool) {
  return std::to_array<std::pair<Pool, std::string_view>>(
      {{Pool::first, "first"}, {Pool::mean, "mean"}});
}

/// Logits of a piece at every position.
struct PieceHead : EmptyOptions {
  static constexpr std::string_view name = "pieces";
};

/// Logits of the class of a whole sequence (Devlin et al. 2018, section 4.1).
struct LabelHead {
  static constexpr std::string_view name = "label";
  Pool pool = Pool::first;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("pool", o.pool,
          "first: the output at the start mark, as at BERT's [CLS]; mean: of all positions");
  }
  template <class Require>
  static void rules(const LabelHead&, Require&&) {}
};

using HeadOptions = std::variant<PieceHead, LabelHead>;

/// A Transformer; the defaults are the base model of Vaswani et al. 2017.
struct TransformerOptions {
  Family family = Family::encoder_decoder;
  int64_t d_model = 512;
  int64_t layers = 6;
  AttentionOptions attention;
  CrossAttentionOptions cross_attention;
  FeedForwardOptions feed_forward;
  PositionOptions position = Sinusoidal{};
  PositionIdsOptions numbering;
  NormOptions norm;
  Skip residual = Skip::on;
  bool bias = true;
  bool embedding_scale = true;
  Tying tying = Tying::three_way;
  double dropout = 0.1;
  HeadOptions output;
  SideOptions encoder, decoder;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("family", o.family, "encoder_decoder, decoder_only or encoder_only");
    visit("d_model", o.d_model, "width of the residual stream");
    visit("layers", o.layers, "layers of the encoder and of the decoder");
    visit("attention", o.attention, "what mixes the positions of a sequence");
    visit("cross_attention", o.cross_attention,
          "attention of the decoder over the encoder's output; same: as model.attention");
    visit("feed_forward", o.feed_forward, "position-wise feed-forward");
    visit("position", o.position, "how the model knows positions");
    visit("numbering", o.numbering, "how the places of a sequence are numbered");
    visit("norm", o.norm, "normalisation");
    visit("residual", o.residual,
          "skip connections: true, false, or learned (a factor on each sub-layer's output, 1 at "
          "first)");
    visit("bias", o.bias, "biases of projections and norms");
    visit("embedding_scale", o.embedding_scale, "multiply embeddings by sqrt(d_model)");
    visit("tying", o.tying,
          "one matrix: three_way, embeddings (source = target), target (target = output), source "
          "(source = output) or none");
    visit("dropout", o.dropout, "on sub-layer outputs and on embedding sums");
    visit("output", o.output,
          "what is predicted: pieces, or the label of an encoder's whole input");
    visit("encoder", o.encoder, "what the encoder has of its own");
    visit("decoder", o.decoder, "what the decoder has of its own");
  }
  template <class Require>
  static void rules(const TransformerOptions& o, Require&& require);
};

/// The choices of one stack of layers, with the side's own laid over the model's.
struct StackOptions {
  int64_t d_model, layers;
  bool causal;  // the stack writes from left to right
  AttentionOptions attention;
  std::optional<MultiHead> cross_attention;
  FeedForwardOptions feed_forward;
  PositionOptions position;
  PositionIdsOptions numbering;
  NormOptions norm;
  Skip residual;
  bool bias;
};

template <class... Options>
std::variant<Options...> chosen(const std::variant<Same, Options...>& own,
                                const std::variant<Options...>& shared) {
  return std::visit(
      [&]<class Held>(const Held& held) -> std::variant<Options...> {
        if constexpr (std::is_same_v<Held, Same>)
          return shared;
        else
          return held;
      },
      own);
}

/// The attention over the encoder's output; nothing where there is none.
inline std::optional<MultiHead> cross_attention_of(const TransformerOptions& o) {
  if (o.family != Family::encoder_decoder) return {};
  if (const auto* own = std::get_if<MultiHead>(&o.cross_attention)) return *own;
  const auto* shared = std::get_if<MultiHead>(&o.attention);
  if (!std::holds_alternative<Same>(o.cross_attention) || shared == nullptr) return {};
  return *shared;
}

/// The side's own choices.
inline const SideOptions& own_of(const TransformerOptions& o, Side which) {
  return which == Side::encoder ? o.encoder : o.decoder;
}

/// The choices of one stack.
inline StackOptions stack_of(const TransformerOptions& o, Side which) {
  const auto& side = own_of(o, which);
  const bool decodes = which == Side::decoder;
  return {.d_model = o.d_model,
          .layers = side.layers.value_or(o.layers),
          .causal = decodes,
          .attention = chosen(side.attention, o.attention),
          .cross_attention = decodes ? cross_attention_of(o) : std::nullopt,
          .feed_forward = chosen(side.feed_forward, o.feed_forward),
          .position = chosen(side.position, o.position),
          .numbering = o.numbering,
          .norm = {side.norm.kind.value_or(o.norm.kind),
                   side.norm.placement.value_or(o.norm.placement)},
          .residual = side.residual.value_or(o.residual),
          .bias = o.bias};
}

/// Whether a side chooses anything for itself.
inline bool chooses(const SideOptions& side) {
  return side.layers || side.norm.kind || side.norm.placement || side.residual ||
         !std::holds_alternative<Same>(side.attention) ||
         !std::holds_alternative<Same>(side.feed_forward) ||
         !std::holds_alternative<Same>(side.position);
}

/// Whether a scheme only acts inside multi-head attention.
inline bool acts_in_attention(const PositionOptions& position) {
  return !std::holds_alternative<NoPosition>(position) &&
         !std::holds_alternative<Sinusoidal>(position) &&
         !std::holds_alternative<Learned>(position);
}

/// Whether it matters to a scheme which numbers the places of a sequence have.
inline bool reads_numbers(const PositionOptions& position) {
  return !std::holds_alternative<NoPosition>(position) && !std::holds_alternative<Cope>(position);
}

/// The rules of one stack, whose choices stand at `attention`, `position` and so on or below `own`.
template <class Require>
void stack_rules(const StackOptions& o, const SideOptions& side, std::string_view own,
                 Require&& require) {
  const auto at = [&](bool chosen_here, std::string_view key) {
    return std::string(chosen_here ? own : std::string_view()) + std::string(key);
  };
  const bool own_attention = !std::holds_alternative<Same>(side.attention);
  const bool own_position = !std::holds_alternative<Same>(side.position);
  const auto* heads = std::get_if<MultiHead>(&o.attention);
  if (heads != nullptr)
    require(heads->heads < 1 || o.d_model % heads->heads == 0 || (heads->d_k && heads->d_v),
            at(own_attention, "attention.heads"),
            "must divide d_model unless d_k and d_v are given");
  require(!std::holds_alternative<Lstm>(o.attention) || o.causal || o.d_model % 2 == 0, "d_model",
          "must be even where an encoder's attention is lstm, half for each direction");
  require(heads != nullptr || !acts_in_attention(o.position), at(own_position, "position.kind"),
          "acts inside multi_head attention, which this model does not have; choose none, "
          "sinusoidal or learned");
  const auto* learned = std::get_if<Learned>(&o.position);
  require(learned == nullptr || learned->beyond != Beyond::interpolate || !o.causal,
          at(own_position, "position.beyond"),
          "cannot be interpolate in a decoder, which does not know how long its output will be");
  const auto* mixture = std::get_if<MixtureOptions>(&o.feed_forward);
  require(mixture == nullptr || !o.causal ||
              !std::holds_alternative<ExpertChoiceRouter>(mixture->router),
          at(!std::holds_alternative<Same>(side.feed_forward), "feed_forward.router.kind"),
          "cannot be expert_choice in a decoder: experts would choose among positions that are "
          "still to come");
  const auto* randomized = std::get_if<Randomized>(&o.numbering);
  require(randomized == nullptr || learned == nullptr || learned->max_length >= randomized->range,
          at(own_position, "position.max_length"), "must be at least model.numbering.range");
  const auto* rotary = std::get_if<Rotary>(&o.position);
  if (rotary == nullptr || heads == nullptr) return;
  const int64_t width = heads->d_k.value_or(o.d_model / std::max<int64_t>(1, heads->heads));
  require(rotary->fraction * static_cast<double>(width) >= 2, at(own_position, "position.fraction"),
          "must leave at least two dimensions of a head to turn");
}

template <class Require>
void TransformerOptions::rules(const TransformerOptions& o, Require&& require) {
  const bool pair = o.family == Family::encoder_decoder;
  require(o.d_model >= 1 && o.d_model <= 65'536, "d_model", "must be from 1 to 65536");
  require(o.layers >= 1 && o.layers <= 1000, "layers", "must be from 1 to 1000");
  require(o.dropout >= 0 && o.dropout < 1, "dropout", "must be in [0, 1)");
  const bool labels = std::holds_alternative<LabelHead>(o.output);
  require(!labels || o.family == Family::encoder_only, "output.kind",
          "can be label in an encoder_only model alone");
  require(!labels || o.tying == Tying::none, "tying",
          "must be none where model.output is label: classes are no pieces");
  require(pair || o.tying == Tying::three_way || o.tying == Tying::none, "tying",
          "must be three_way or none in a family with one embedding");
  require(o.family != Family::decoder_only || !chooses(o.encoder), "encoder",
          "has no effect: a decoder_only model has no encoder");
  require(o.family != Family::encoder_only || !chooses(o.decoder), "decoder",
          "has no effect: an encoder_only model has no decoder");
  require(pair || std::holds_alternative<Same>(o.cross_attention), "cross_attention",
          "has no effect: only an encoder_decoder model has cross-attention");
  require(!pair || !std::holds_alternative<Same>(o.cross_attention) ||
              std::holds_alternative<MultiHead>(o.attention),
          "cross_attention.kind",
          "cannot be same where model.attention is not multi_head; choose multi_head or none");
  if (const auto cross = cross_attention_of(o))
    require(cross->heads < 1 || o.d_model % cross->heads == 0 || (cross->d_k && cross->d_v),
            std::holds_alternative<Same>(o.cross_attention) ? "attention.heads"
                                                            : "cross_attention.heads",
            "must divide d_model unless d_k and d_v are given");
  const bool own_position = !std::holds_alternative<Same>(o.decoder.position);
  const auto decoder_position = chosen(o.decoder.position, o.position);
  const auto* alibi = std::get_if<Alibi>(&decoder_position);
  require(o.family == Family::encoder_only || (pair && !own_position) || alibi == nullptr ||
              alibi->encoder == Sides::symmetric,
          own_position ? "decoder.position.encoder" : "position.encoder",
          "cannot be two_sided in a decoder, whose heads all look to the left");
  const bool read =
      (o.family != Family::decoder_only && reads_numbers(chosen(o.encoder.position, o.position))) ||
      (o.family != Family::encoder_only && reads_numbers(chosen(o.decoder.position, o.position)));
  require(read || std::holds_alternative<Consecutive>(o.numbering), "numbering.kind",
          "has no effect: the position scheme reads no numbers; choose consecutive");
  if (o.family != Family::decoder_only)
    stack_rules(stack_of(o, Side::encoder), o.encoder, "encoder.", require);
  if (o.family != Family::encoder_only)
    stack_rules(stack_of(o, Side::decoder), o.decoder, "decoder.", require);
}

}  // namespace ablate::models
