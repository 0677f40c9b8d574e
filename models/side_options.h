#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "models/attention_options.h"
#include "models/empty_options.h"
#include "models/feed_forward_options.h"
#include "models/position/position_options.h"
#include "models/residual_options.h"

namespace ablate::models {

/// Which of a model's two stacks is meant.
enum class Side { encoder, decoder };

/// What the whole model has, in a place that may have something of its own.
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

/// The place's own choice, or else the whole model's.
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

/// Normalisation of one side; absent: as in the whole model.
struct SideNorm {
  std::optional<NormKind> kind;
  std::optional<NormPlacement> placement;
  std::optional<double> alpha;

  static void fields(auto& o, auto&& visit) {
    visit("kind", o.kind, "layer, rms, batch, tanh or none; absent: as in model.norm");
    visit("placement", o.placement, "post, pre or both; absent: as in model.norm");
    visit("alpha", o.alpha, "first value of tanh's factor; absent: as in model.norm");
  }
  static void rules(const SideNorm& o, auto&& require) {
    require(!o.alpha || *o.alpha > 0, "alpha", "must be positive");
  }
};

/// Residual connections of one side; absent: as in the whole model.
struct SideResidual {
  std::optional<bool> skip;
  std::optional<double> start;
  std::optional<FactorPer> per;
  std::optional<ResidualDepth> depth;
  std::optional<double> drop;

  static void fields(auto& o, auto&& visit) {
    visit("skip", o.skip, "whether inputs are added; absent: as in model.residual");
    visit("start", o.start, "what outputs are multiplied by; absent: as in model.residual");
    visit("per", o.per, "none, layer or channel; absent: as in model.residual");
    visit("depth", o.depth, "none, sqrt or deepnorm; absent: as in model.residual");
    visit("drop", o.drop, "share that skips the last layer; absent: as in model.residual");
  }
  static void rules(const SideResidual& o, auto&& require) {
    ResidualOptions::rules(o.over({}), require);
  }

  /// These choices over those of the model.
  ResidualOptions over(const ResidualOptions& shared) const {
    return {.skip = skip.value_or(shared.skip),
            .start = start.value_or(shared.start),
            .per = per.value_or(shared.per),
            .depth = depth.value_or(shared.depth),
            .drop = drop.value_or(shared.drop)};
  }
  bool chooses() const { return skip || start || per || depth || drop; }
};

/// Shared layers of one side; absent: as in the whole model.
struct SideShare {
  std::optional<int64_t> layers;
  std::optional<ShareOrder> order;

  static void fields(auto& o, auto&& visit) {
    visit("layers", o.layers, "different layers; absent: as in model.share");
    visit("order", o.order, "cycle or sequence; absent: as in model.share");
  }
  static void rules(const SideShare& o, auto&& require) {
    require(!o.layers || *o.layers >= 1, "layers", "must be positive");
  }
};

/// What the encoder or the decoder has of its own.
struct SideOptions {
  std::optional<int64_t> layers;
  OrSame<AttentionOptions> attention;
  OrSame<AttentionOptions> other_attention;
  std::optional<MixerPattern> pattern;
  OrSame<FeedForwardOptions> feed_forward;
  OrSame<PositionOptions> position;
  OrSame<PositionOptions> other_position;
  SideNorm norm;
  SideResidual residual;
  std::optional<Block> block;
  SideShare share;

  static void fields(auto& o, auto&& visit) {
    visit("layers", o.layers, "layers of this side; absent: model.layers");
    visit("attention", o.attention, "what mixes positions; same: model.attention");
    visit("other_attention", o.other_attention,
          "what the layers have that are other in the pattern; same: model.other_attention");
    visit(
        "pattern", o.pattern,
        "the mixers of this side's layers, repeated; []: attention in all; absent: model.pattern");
    visit("feed_forward", o.feed_forward, "position-wise feed-forward; same: model.feed_forward");
    visit("position", o.position, "how this side knows positions; same: model.position");
    visit("other_position", o.other_position,
          "how its layers know positions that are other in the pattern; same: "
          "model.other_position");
    visit("norm", o.norm, "normalisation");
    visit("residual", o.residual, "how sub-layers join the residual stream");
    visit("block", o.block, "sequential or parallel; absent: model.block");
    visit("share", o.share, "layers that are one and the same");
  }
  static void rules(const SideOptions& o, auto&& require) {
    require(!o.layers || (*o.layers >= 1 && *o.layers <= 1000), "layers", "must be from 1 to 1000");
  }

  /// Whether the side chooses anything for itself.
  bool chooses() const {
    return layers || norm.kind || norm.placement || norm.alpha || residual.chooses() || block ||
           share.layers || share.order || pattern || !std::holds_alternative<Same>(attention) ||
           !std::holds_alternative<Same>(other_attention) ||
           !std::holds_alternative<Same>(feed_forward) || !std::holds_alternative<Same>(position) ||
           !std::holds_alternative<Same>(other_position);
  }
};

}  // namespace ablate::models
