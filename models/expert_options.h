#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/dense_options.h"
#include "models/empty_options.h"
#include "models/router_options.h"

namespace ablate::models {

/// What is added to the loss of a position: of each of these the mean over the layers with experts,
/// where Switch and GShard add the layers up.
struct BalanceOptions {
  double load = 0.01;
  double z = 0.001;
  double importance = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("load", o.load,
          "times the load balance, which is 1 where all experts work alike; of this and the next "
          "two losses the mean over the layers with experts counts, not their sum (Switch)");
    visit("z", o.z, "times the mean square of the scores' log-sum-exp (ST-MoE)");
    visit("importance", o.importance,
          "times 1 + the squared variation of the experts' summed weights (Shazeer et al. 2017)");
  }
  static void rules(const BalanceOptions& o, auto&& require) {
    require(o.load >= 0, "load", "must not be negative");
    require(o.z >= 0, "z", "must not be negative");
    require(o.importance >= 0, "importance", "must not be negative");
  }
};

/// Every expert takes all positions that are sent to it.
struct Dropless : EmptyOptions {
  static constexpr std::string_view name = "none";
};

enum class Keep { first, likeliest };

constexpr auto names(Keep) {
  return std::to_array<std::pair<Keep, std::string_view>>(
      {{Keep::first, "first"}, {Keep::likeliest, "likeliest"}});
}

/// In training an expert takes ceil(factor active N / experts) of a batch's N unpadded positions;
/// of what is left over nothing is computed. First choices go before second ones. Evaluation has no
/// limit unless one is given, which is then counted for every sequence by itself, so that what a
/// model makes of a sequence does not depend on others. A decoder counts it at position t from 1 on
/// among the t positions so far, in their order, so that writing a text and scoring it agree.
struct LimitedCapacity {
  static constexpr std::string_view name = "limited";
  double factor = 1.25;
  std::optional<double> evaluation;
  Keep keep = Keep::first;

  static void fields(auto& o, auto&& visit) {
    visit("factor", o.factor,
          "room in training, counted over a batch; 1: just enough for equal loads");
    visit(
        "evaluation", o.evaluation,
        "room in evaluation, counted in every sequence by itself, in a decoder over the positions "
        "so far; absent: an expert takes all that is sent to it");
    visit("keep", o.keep, "first: in the order of the positions; likeliest: by weight");
  }
  static void rules(const LimitedCapacity& o, auto&& require) {
    require(o.factor > 0, "factor", "must be positive");
    require(!o.evaluation || *o.evaluation > 0, "evaluation", "must be positive");
  }
};

using CapacityOptions = std::variant<Dropless, LimitedCapacity>;

/// A dense feed-forward in the mixture's place.
enum class Match { none, active, total };

constexpr auto names(Match) {
  return std::to_array<std::pair<Match, std::string_view>>(
      {{Match::none, "none"}, {Match::active, "active"}, {Match::total, "total"}});
}

/// A mixture of expert feed-forwards, of which each position uses `active` (Shazeer et al. 2017).
/// Padding is never routed and counts nowhere.
struct MixtureOptions {
  static constexpr std::string_view name = "moe";
  int64_t experts = 8;
  int64_t active = 2;
  int64_t d_hidden = 1024;
  Activation activation = Activation::relu;
  bool gated = false;
  int64_t shared_experts = 0;
  RouterOptions router;
  BalanceOptions balance;
  CapacityOptions capacity;
  Match match = Match::none;

  static void fields(auto& o, auto&& visit) {
    visit("experts", o.experts, "feed-forwards to choose from");
    visit("active", o.active, "experts that a position uses");
    visit("d_hidden", o.d_hidden, "width of one expert's hidden layer");
    visit("activation", o.activation,
          "relu, gelu, silu, relu2 (the square of relu), sigmoid or identity");
    visit(
        "gated", o.gated,
        "multiply the activation by a second projection of the input (silu: SwiGLU; sigmoid: GLU; "
        "identity: bilinear)");
    visit("shared_experts", o.shared_experts, "further experts that every position uses");
    visit("router", o.router, "how experts are chosen");
    visit("balance", o.balance, "losses that spread the work");
    visit("capacity", o.capacity, "whether an expert's work is limited");
    visit("match", o.match,
          "active or total: a dense feed-forward with the mixture's active or total width instead");
  }
  static void rules(const MixtureOptions& o, auto&& require) {
    require(o.experts >= 1 && o.experts <= 1024, "experts", "must be from 1 to 1024");
    require(o.active >= 1 && o.active <= o.experts, "active", "must be from 1 to experts");
    require(o.d_hidden >= 1 && o.d_hidden <= 1'048'576, "d_hidden", "must be from 1 to 1048576");
    require(o.shared_experts >= 0 && o.shared_experts <= 1024, "shared_experts",
            "must be from 0 to 1024");
    std::visit([&](const auto& kind) { router_rules(o, kind, require); }, o.router);
  }

  /// The dense feed-forward with the same widths: of what one position uses, or of everything.
  DenseFeedForward dense_twin(Match which) const {
    const int64_t used = (which == Match::total ? experts : active) + shared_experts;
    return {.d_hidden = used * d_hidden, .activation = activation, .gated = gated};
  }

 private:
  template <class Held>
  static void router_rules(const MixtureOptions& o, const Held& router, auto& require) {
    const bool chooses = o.active > 1 || o.experts == 1;
    if constexpr (requires { router.renormalize; })
      require(chooses || !router.renormalize, "router.renormalize",
              "must be false where active is 1: the only weight would always be 1, and the router "
              "would learn nothing");
    require(chooses || !std::is_same_v<Held, NoisyRouter>, "router.kind",
            "cannot be noisy where active is 1: the only weight would always be 1, and the router "
            "would learn nothing; choose switch");
    require(Held::only_active == 0 || o.active == Held::only_active, "active",
            "must be " + std::to_string(Held::only_active) + " with the " +
                std::string(Held::name) + " router");
    require(!Held::fixes_loads || std::holds_alternative<Dropless>(o.capacity), "capacity.kind",
            "has no effect: with " + std::string(Held::name) + " every expert has its fixed share");
  }
};

}  // namespace ablate::models
