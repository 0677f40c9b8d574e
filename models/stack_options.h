#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/initialization_options.h"
#include "models/position/position_ids_options.h"
#include "models/side_options.h"

namespace ablate::models {

/// DeepNorm's factors of sub-layers' inputs and of first values.
struct DeepNorm {
  double alpha = 1, beta = 1;
};

/// The choices of one stack of layers, with the side's own laid over the model's.
struct StackOptions {
  int64_t d_model, layers;
  bool causal;  // the stack writes from left to right
  AttentionOptions attention;
  AttentionOptions other_attention = {};  // of the layers that are `other` in the pattern
  MixerPattern pattern = {};
  std::optional<MultiHead> cross_attention;
  FeedForwardOptions feed_forward;
  PositionOptions position;
  std::optional<PositionOptions> other_position = {};  // of the other layers; absent: position
  PositionIdsOptions position_ids;
  NormOptions norm;
  ResidualOptions residual;
  DeepNorm deepnorm = {};  // where it is chosen
  Block block = Block::sequential;
  ShareOptions share;
  bool bias;
  InitializationOptions initialization = {};
  ParametrizationOptions parametrization = {};

  /// Sub-layers, each of which adds to the residual stream.
  int64_t additions() const {
    const bool feeds = !std::holds_alternative<NoFeedForward>(feed_forward);
    int64_t count = layers * ((cross_attention ? 1 : 0) + (feeds ? 1 : 0));
    for (int64_t depth = 0; depth < layers; ++depth)
      if (!std::holds_alternative<NoAttention>(attention_of(layer_at(depth)))) ++count;
    return count;
  }
  /// Layers with weights of their own.
  int64_t different_layers() const { return share.layers.value_or(layers); }
  /// Which of them stands at this depth, from 0 on.
  int64_t layer_at(int64_t depth) const {
    return share.order == ShareOrder::cycle ? depth % different_layers()
                                            : depth * different_layers() / layers;
  }
  /// Which mixer the layer with this number among the different ones has.
  MixerChoice mixer_of(int64_t layer) const {
    return pattern.empty() ? MixerChoice::attention
                           : pattern[static_cast<size_t>(layer) % pattern.size()];
  }
  const AttentionOptions& attention_of(int64_t layer) const {
    return mixer_of(layer) == MixerChoice::other ? other_attention : attention;
  }
  /// The different mixers of its layers.
  std::vector<AttentionOptions> mixers() const {
    return pattern.empty() ? std::vector{attention} : std::vector{attention, other_attention};
  }
  /// Whether the position scheme of the layers with `mixer` serves those with the other one, too.
  bool one_scheme() const { return !pattern.empty() && !other_position; }
  /// The attention whose heads the position scheme of these layers serves; null: none has scores.
  const MultiHead* scored_attention(MixerChoice mixer) const {
    const auto *first = std::get_if<MultiHead>(&attention),
               *second = std::get_if<MultiHead>(&other_attention);
    if (one_scheme()) return first != nullptr ? first : second;
    return mixer == MixerChoice::other ? second : first;
  }
  /// How many of the different layers before this one that scheme serves.
  int64_t scored_before(int64_t layer, MixerChoice mixer) const {
    int64_t count = 0;
    for (int64_t i = 0; i < layer; ++i)
      if (has_scores(attention_of(i)) && (one_scheme() || mixer_of(i) == mixer)) ++count;
    return count;
  }
  /// Whether all layers have one feed-forward.
  bool shares_feed_forward() const {
    const auto* dense = std::get_if<DenseFeedForward>(&feed_forward);
    return dense != nullptr && dense->shared;
  }
};

/// Whether a scheme acts inside multi-head attention.
constexpr bool needs_attention(const PositionOptions& position) {
  return std::visit([]<class Held>(const Held&) { return Held::needs_attention; }, position);
}

/// Whether it matters to a scheme which ids the tokens of a sequence have.
constexpr bool reads_position_ids(const PositionOptions& position) {
  return std::visit([]<class Held>(const Held&) { return Held::reads_position_ids; }, position);
}

/// The rules of one stack, whose choices stand at `attention`, `position` and so on where they are
/// the whole model's and below `own_path` ("encoder.") where they are the side's.
template <class Require>
struct StackRules {
  const StackOptions& stack;
  const SideOptions& side;
  std::string_view own_path;
  Require& require;

  void check() const {
    check_mixer(stack.attention, at(side.attention, "attention."));
    if (!stack.pattern.empty())
      check_mixer(stack.other_attention, at(side.other_attention, "other_attention."));
    check_pattern();
    check_position();
    check_position_ids();
    check_feed_forward();
    check_residual();
    check_share();
  }

 private:
  template <class Choice>
  std::string at(const Choice& own, std::string_view key) const {
    return std::string(std::holds_alternative<Same>(own) ? std::string_view() : own_path)
        .append(key);
  }

  /// `section` is the path of the mixer's keys up to the last dot.
  void check_mixer(const AttentionOptions& mixer, const std::string& section) const {
    const auto* heads = std::get_if<MultiHead>(&mixer);
    require(heads == nullptr || heads->divides(stack.d_model), section + "heads",
            "must divide d_model unless d_k and d_v are given");
    const auto* matrices = std::visit(
        []<class Held>(const Held& held) -> const MatrixState* {
          if constexpr (std::is_base_of_v<MatrixState, Held>) return &held;
          return nullptr;
        },
        mixer);
    require(matrices == nullptr || matrices->heads < 1 || stack.d_model % matrices->heads == 0,
            section + "heads", "must divide d_model");
    require(stack.causal || !std::holds_alternative<DeltaRule>(mixer), section + "kind",
            "cannot be delta in an encoder: it writes from left to right");
    const auto* linear = std::get_if<LinearAttention>(&mixer);
    require(stack.causal || linear == nullptr || linear->decay != Forgetting::gated,
            section + "decay", "cannot be gated in an encoder: it forgets from left to right");
    require(!std::holds_alternative<Lstm>(mixer) || stack.causal || stack.d_model % 2 == 0,
            "d_model",
            "must be even where an encoder's attention is lstm, half for each direction");
  }

  void check_pattern() const {
    if (stack.pattern.empty()) return;
    require(static_cast<int64_t>(stack.pattern.size()) <= stack.different_layers(),
            at(side.pattern.has_value(), "pattern"),
            "must not be longer than the stack has different layers");
    const auto* one = std::get_if<MultiHead>(&stack.attention);
    const auto* other = std::get_if<MultiHead>(&stack.other_attention);
    require(one == nullptr || other == nullptr || !needs_attention(stack.position) ||
                stack.other_position ||
                (one->heads == other->heads && one->d_k == other->d_k && one->d_v == other->d_v),
            at(side.other_attention, "other_attention.heads"),
            "must be those of attention, with the same d_k and d_v, where one position scheme acts "
            "inside both; choose them or other_position");
    if (stack.other_position) check_other_position(*stack.other_position);
  }

  void check_other_position(const PositionOptions& other) const {
    const auto path = at(side.other_position, "other_position.kind");
    const bool acts = needs_attention(other), none = std::holds_alternative<NoPosition>(other);
    require(acts || none, path,
            "must be none or act inside attention: what is added to embeddings is model.position, "
            "for all layers");
    require(has_scores(stack.other_attention) || !(acts || none), path,
            "has no effect: the other layers have no scores for it to act on");
    require(!none || needs_attention(stack.position), path,
            "has no effect: the other layers read what model.position adds to embeddings, too");
    check_rotary(other, MixerChoice::other, at(side.other_position, "other_position.fraction"));
  }

  void check_position() const {
    require(stack.scored_attention(MixerChoice::attention) || !needs_attention(stack.position),
            at(side.position, "position.kind"),
            "acts inside multi_head attention, which this model does not have; choose none, "
            "sinusoidal or learned");
    const auto* learned = std::get_if<Learned>(&stack.position);
    require(learned == nullptr || learned->beyond != Beyond::interpolate || !stack.causal,
            at(side.position, "position.beyond"),
            "cannot be interpolate in a decoder, which does not know how long its output will be");
    check_rotary(stack.position, MixerChoice::attention, at(side.position, "position.fraction"));
  }

  void check_rotary(const PositionOptions& scheme, MixerChoice mixer,
                    const std::string& path) const {
    const auto* rotary = std::get_if<Rotary>(&scheme);
    const auto* heads = stack.scored_attention(mixer);
    if (rotary == nullptr || heads == nullptr) return;
    const int64_t width = heads->d_k.value_or(stack.d_model / std::max<int64_t>(1, heads->heads));
    require(rotary->fraction * static_cast<double>(width) >= 2, path,
            "must leave at least two dimensions of a head to turn");
  }

  void check_position_ids() const {
    const auto* learned = std::get_if<Learned>(&stack.position);
    const auto* randomized = std::get_if<Randomized>(&stack.position_ids);
    require(randomized == nullptr || learned == nullptr || learned->max_length >= randomized->range,
            at(side.position, "position.max_length"), "must be at least model.position_ids.range");
  }

  /// The path of a key that a section of the side may have of its own.
  std::string at(bool own, std::string_view key) const {
    return std::string(own ? own_path : std::string_view()).append(key);
  }

  void check_residual() const {
    const auto& residual = stack.residual;
    const auto& own = side.residual;
    require(residual.skip || residual.drop == 0, at(own.drop.has_value(), "residual.drop"),
            "must be 0 where residual.skip is false: nothing would be left of a sequence");
    require(residual.depth != ResidualDepth::deepnorm ||
                (residual.skip && stack.norm.placement == NormPlacement::post &&
                 stack.norm.kind != NormKind::none),
            at(own.depth.has_value(), "residual.depth"),
            "can be deepnorm only where residual.skip is true and a norm is placed post");
    require(stack.block == Block::sequential || stack.norm.placement == NormPlacement::pre,
            at(side.block.has_value(), "block"),
            "can be parallel only where norm.placement is pre");
  }

  void check_share() const {
    const auto& layers = stack.share.layers;
    if (!layers) return;
    const auto path = at(side.share.layers.has_value(), "share.layers");
    require(*layers <= stack.layers, path, "must not exceed the number of layers");
    require(!std::holds_alternative<MixtureOptions>(stack.feed_forward), path,
            "must be absent where the feed-forward is moe: the routers of shared layers cannot be "
            "told apart");
  }

  void check_feed_forward() const {
    const auto* mixture = std::get_if<MixtureOptions>(&stack.feed_forward);
    if (mixture == nullptr || !stack.causal) return;
    std::visit(
        [&]<class Held>(const Held&) {
          require(Held::causal, at(side.feed_forward, "feed_forward.router.kind"),
                  "cannot be " + std::string(Held::name) +
                      " in a decoder: experts would choose among positions that are still to come");
        },
        mixture->router);
    const auto* limited = std::get_if<LimitedCapacity>(&mixture->capacity);
    require(
        limited == nullptr || !limited->evaluation || limited->keep == Keep::first,
        at(side.feed_forward, "feed_forward.capacity.keep"),
        "must be first where a decoder limits the evaluation: it cannot know whether a likelier "
        "position is still to come");
  }
};

}  // namespace ablate::models
