#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "models/options/activation.h"
#include "models/options/option_traits.h"
#include "models/options/router_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::models {

inline constexpr auto kHiddenDropoutHelp =
    "dropout probability of hidden layers in training, behind the activation (activation_dropout, "
    "mlp_dropout)";

// Every feed-forward states
//   is_sublayer         whether it adds to the residual stream
//   routes              whether it sends each position to `active` of several `experts`
//   counts_positions()  whether its evaluation depends on earlier positions of the sequence
//   hidden_channels()   what every position has before the activation; absent: nothing, or not all
//                       positions the same

struct DenseFeedForward {
  static constexpr std::string_view name = "dense";
  static constexpr std::string_view about =
      "two linear maps around an activation at every position (Vaswani et al. 2017, arXiv "
      "1706.03762), or three with a gate (Shazeer 2020, arXiv 2002.05202)";
  static constexpr bool is_sublayer = true, routes = false;
  static constexpr bool counts_positions() { return false; }
  constexpr std::optional<int64_t> hidden_channels() const {
    return gated ? 2 * d_hidden : d_hidden;
  }
  int64_t d_hidden = 2048;
  Activation activation = Activation::relu;
  bool gated = false;
  double dropout = 0.0;
  std::optional<bool> bias;
  bool shared = false;

  static void fields(auto& o, auto&& visit) {
    visit("d_hidden", o.d_hidden, "width of the hidden layer (intermediate_size)",
          options::from(1, 1'048'576));
    visit("activation", o.activation, "between the two linear maps");
    visit(
        "gated", o.gated,
        "multiply the activation by a second projection of the input (silu: SwiGLU, sigmoid: GLU, "
        "identity: bilinear)");
    visit("dropout", o.dropout, kHiddenDropoutHelp, options::from_below(0, 1));
    visit("bias", o.bias, "biases of its projections; absent: model.bias");
    visit("shared", o.shared, "one feed-forward for all layers of the stack (Pires et al. 2023)");
  }
};

/// Auxiliary losses: of each of these the mean over the layers with experts, not their sum as in
/// Switch and GShard.
struct BalanceOptions {
  double load = 0.01;
  double z = 0.001;
  double importance = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit(
        "load", o.load,
        "factor of the load-balancing loss, which is 1 if all experts have the same load; this and "
        "the next two losses are averaged over the layers with experts, not summed as in Switch",
        options::at_least(0));
    visit("z", o.z,
          "factor of the router z-loss, the mean square of the scores' log-sum-exp (ST-MoE)",
          options::at_least(0));
    visit("importance", o.importance,
          "factor of the importance loss, 1 + the squared coefficient of variation of the experts' "
          "summed weights (Shazeer et al. 2017)",
          options::at_least(0));
  }
};

struct Dropless : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about = "every expert takes all positions that are sent to it";
  static constexpr bool limits = false;
  static constexpr bool counts_positions() { return false; }
};

ABLATE_ENUM(Keep, first, likeliest);

/// An expert takes ceil(factor active N / experts) of a batch's N unpadded positions. First choices
/// go before second ones. Evaluation has no limit unless one is given, which then holds within
/// every sequence, so that outputs do not depend on other sequences of the batch. In a decoder it
/// holds at position t among the first t positions, in their order, so that generating a text and
/// scoring it agree.
struct LimitedCapacity {
  static constexpr std::string_view name = "limited";
  static constexpr std::string_view about =
      "in training an expert takes its share of a batch's positions, times a factor, and drops the "
      "rest (Lepikhin et al. 2020, arXiv 2006.16668)";
  static constexpr bool limits = true;
  /// Whether evaluation depends on how many positions an expert took before.
  constexpr bool counts_positions() const { return evaluation.has_value(); }
  double factor = 1.25;
  std::optional<double> evaluation;
  Keep keep = Keep::first;

  static void fields(auto& o, auto&& visit) {
    visit("factor", o.factor,
          "capacity in training, counted over a batch; 1: just enough for equal loads",
          options::above(0));
    visit("evaluation", o.evaluation,
          "capacity in evaluation, counted within every sequence, in a decoder over the positions "
          "so far; absent: no limit",
          options::above(0));
    visit("keep", o.keep,
          "which positions an expert keeps: first (in their order) or likeliest (by weight)");
  }
};

using CapacityOptions = std::variant<Dropless, LimitedCapacity>;

constexpr bool limits(const CapacityOptions& capacity) {
  return std::visit([]<class Held>(const Held&) { return Held::limits; }, capacity);
}

/// A dense feed-forward instead of the mixture.
ABLATE_ENUM(Match, none, active, total);

/// Padding is never routed and counts nowhere.
struct MixtureOptions {
  static constexpr std::string_view name = "moe";
  static constexpr std::string_view about =
      "a mixture of experts: several feed-forwards, of which each position uses a few (Shazeer et "
      "al. 2017, arXiv 1701.06538)";
  static constexpr bool is_sublayer = true, routes = true;
  static constexpr std::optional<int64_t> hidden_channels() { return {}; }
  constexpr bool counts_positions() const {
    return std::visit([](const auto& held) { return held.counts_positions(); }, capacity);
  }
  int64_t experts = 8;
  int64_t active = 2;
  int64_t d_hidden = 1024;
  Activation activation = Activation::relu;
  bool gated = false;
  double dropout = 0.0;
  int64_t shared_experts = 0;
  RouterOptions router;
  BalanceOptions balance;
  CapacityOptions capacity;
  Match match = Match::none;

  static void fields(auto& o, auto&& visit) {
    visit("experts", o.experts, "number of experts (num_local_experts)", options::from(1, 1024));
    visit("active", o.active, "experts per position (num_experts_per_tok)");
    visit("d_hidden", o.d_hidden, "width of one expert's hidden layer (intermediate_size)",
          options::from(1, 1'048'576));
    visit("activation", o.activation, "between the two linear maps");
    visit(
        "gated", o.gated,
        "multiply the activation by a second projection of the input (silu: SwiGLU; sigmoid: GLU; "
        "identity: bilinear)");
    visit("dropout", o.dropout, kHiddenDropoutHelp, options::from_below(0, 1));
    visit("shared_experts", o.shared_experts, "further experts that every position uses",
          options::from(0, 1024));
    visit("router", o.router, "how experts are chosen");
    visit("balance", o.balance, "auxiliary losses that balance the experts' loads");
    visit("capacity", o.capacity, "limit of the positions per expert");
    visit("match", o.match,
          "none: a mixture; active or total: a dense feed-forward with the mixture's active or "
          "total width instead");
  }
  static void rules(const MixtureOptions& o, auto&& require) {
    require(o.active >= 1 && o.active <= o.experts, "active", "must be from 1 to experts");
    std::visit([&](const auto& kind) { router_rules(o, kind, require); }, o.router);
  }

  /// The dense feed-forward with the same width: that of the experts that one position uses, or of
  /// all.
  DenseFeedForward dense_twin(Match which) const {
    const int64_t used = (which == Match::total ? experts : active) + shared_experts;
    return {
        .d_hidden = used * d_hidden, .activation = activation, .gated = gated, .dropout = dropout};
  }

 private:
  template <class Held>
  static void router_rules(const MixtureOptions& o, const Held& router, auto& require) {
    const bool chooses = o.active > 1 || o.experts == 1;
    if constexpr (requires { router.renormalize; })
      require(chooses || !router.renormalize, "router.renormalize",
              "must be false if active is 1: the only weight would always be 1, and the router "
              "would not learn");
    require(chooses || !std::is_same_v<Held, NoisyRouter>, "router.kind",
            "cannot be noisy if active is 1: the only weight would always be 1, and the router "
            "would not learn; choose switch");
    require(Held::only_active == 0 || o.active == Held::only_active, "active",
            "must be " + std::to_string(Held::only_active) + " with the " +
                std::string(Held::name) + " router");
    require(!Held::fixes_loads || !limits(o.capacity), "capacity.kind",
            "has no effect: with " + std::string(Held::name) + " every expert has its fixed share");
  }
};

struct NoFeedForward : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about = "no feed-forward";
  static constexpr bool is_sublayer = false, routes = false;
  static constexpr bool counts_positions() { return false; }
  static constexpr std::optional<int64_t> hidden_channels() { return {}; }
};

using FeedForwardOptions = std::variant<DenseFeedForward, MixtureOptions, NoFeedForward>;

constexpr bool routes(const FeedForwardOptions& options) {
  return std::visit([]<class Held>(const Held&) { return Held::routes; }, options);
}

constexpr std::optional<int64_t> hidden_channels(const FeedForwardOptions& options) {
  return std::visit([](const auto& held) { return held.hidden_channels(); }, options);
}

/// The feed-forward that a layer with these options has: the dense twin of a mixture with `match`.
inline FeedForwardOptions feed_forward_of(const FeedForwardOptions& options) {
  const auto* mixture = std::get_if<MixtureOptions>(&options);
  if (mixture == nullptr || mixture->match == Match::none) return options;
  return mixture->dense_twin(mixture->match);
}

}  // namespace ablate::models
