#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/dense_options.h"
#include "models/empty_options.h"

namespace ablate::models {

class Router;
struct MixtureOptions;

// Every router says of itself
//   causal              whether what it does at a position depends on no later one
//   needs_padding_mask  whether it reads the mask even where nothing is padded
//   fixes_loads         whether every expert has its fixed share, so that no capacity limits it
//   moefied             whether it serves models made by `ablate moefy` alone
// and has `make`, which is defined beside the module in router.cpp.

/// p = softmax over all experts; the `active` likeliest are chosen with the weights p, or p divided
/// by the chosen ones' sum (Mixtral).
struct SoftmaxRouter {
  static constexpr std::string_view name = "softmax";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = false;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;

  bool renormalize = true;
  double jitter = 0.0;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("renormalize", o.renormalize, "divide the chosen weights by their sum");
    visit("jitter", o.jitter, "training: the router's input times a number in [1 - j, 1 + j]");
  }
  template <class Require>
  static void rules(const SoftmaxRouter& o, Require&& require) {
    require(o.jitter >= 0 && o.jitter < 1, "jitter", "must be in [0, 1)");
  }
};

/// The likeliest expert alone, with its probability as weight (Fedus et al. 2021, Switch).
struct SwitchRouter {
  static constexpr std::string_view name = "switch";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = false;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;

  double jitter = 0.01;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("jitter", o.jitter, "training: the router's input times a number in [1 - j, 1 + j]");
  }
  template <class Require>
  static void rules(const SwitchRouter& o, Require&& require) {
    require(o.jitter >= 0 && o.jitter < 1, "jitter", "must be in [0, 1)");
  }
};

/// Noisy top-k (Shazeer et al. 2017): training adds noise of a trained size to the scores, and the
/// softmax runs over the chosen ones. Starts from zeros. Its load is smooth: 1 + the squared
/// variation of the experts' expected positions (appendix A).
struct NoisyRouter : EmptyOptions {
  static constexpr std::string_view name = "noisy";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = false;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// GShard (Lepikhin et al. 2020): the likeliest two, their weights divided by their sum; training
/// uses the second with a probability of twice its weight.
struct GshardRouter : EmptyOptions {
  static constexpr std::string_view name = "gshard";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = false;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// Sigmoid scores with a bias that only selects (DeepSeek-V3, auxiliary-loss-free): after every
/// training batch it rises by `bias_step` for experts below the mean load and falls for those
/// above.
struct SigmoidRouter {
  static constexpr std::string_view name = "sigmoid";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = false;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;

  bool renormalize = true;
  double bias_step = 1e-3;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("renormalize", o.renormalize, "divide the chosen weights by their sum");
    visit("bias_step", o.bias_step, "change of the selection bias after a batch");
  }
  template <class Require>
  static void rules(const SigmoidRouter& o, Require&& require) {
    require(o.bias_step >= 0 && o.bias_step < 1, "bias_step", "must be in [0, 1)");
  }
};

/// Every expert chooses its likeliest positions of the batch (Zhou et al. 2022), `active` per
/// position on average.
struct ExpertChoiceRouter : EmptyOptions {
  static constexpr std::string_view name = "expert_choice";
  static constexpr bool causal = false;
  static constexpr bool needs_padding_mask = true;
  static constexpr bool fixes_loads = true;
  static constexpr bool moefied = false;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// Experts chosen by the piece itself through a fixed hash, weighted alike (Roller et al. 2021).
struct HashRouter : EmptyOptions {
  static constexpr std::string_view name = "hash";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = false;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// The experts whose neurons are most active, found by computing all of them: the most that a
/// router of a moefied model can reach (Zhang et al. 2022). All weights are 1 here and below.
struct OracleRouter : EmptyOptions {
  static constexpr std::string_view name = "oracle";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = true;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// The experts whose neurons' mean direction is nearest the input's; made by `ablate moefy`.
struct SimilarityRouter : EmptyOptions {
  static constexpr std::string_view name = "similarity";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = true;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// The experts that a small network expects to be most active; made by `ablate moefy`.
struct NetworkRouter : EmptyOptions {
  static constexpr std::string_view name = "network";
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr bool moefied = true;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

using RouterOptions =
    std::variant<SoftmaxRouter, SwitchRouter, NoisyRouter, GshardRouter, SigmoidRouter,
                 ExpertChoiceRouter, HashRouter, OracleRouter, SimilarityRouter, NetworkRouter>;

/// What is added to the loss of a position, averaged over the layers with experts.
struct BalanceOptions {
  double load = 0.01;
  double z = 0.001;
  double importance = 0.0;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("load", o.load, "times the load balance, which is 1 where all experts work alike");
    visit("z", o.z, "times the mean square of the scores' log-sum-exp (ST-MoE)");
    visit("importance", o.importance,
          "times 1 + the squared variation of the experts' summed weights (Shazeer et al. 2017)");
  }
  template <class Require>
  static void rules(const BalanceOptions& o, Require&& require) {
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

/// An expert takes ceil(factor active N / experts) of a batch's N real positions; of what is left
/// over nothing is computed. First choices go before second ones.
struct Limited {
  static constexpr std::string_view name = "limited";
  double factor = 1.25;
  double evaluation = 2.0;
  Keep keep = Keep::first;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("factor", o.factor, "room in training, 1: just enough for equal loads");
    visit("evaluation", o.evaluation, "room in evaluation");
    visit("keep", o.keep, "first: in the order of the batch; likeliest: by weight");
  }
  template <class Require>
  static void rules(const Limited& o, Require&& require) {
    require(o.factor > 0, "factor", "must be positive");
    require(o.evaluation > 0, "evaluation", "must be positive");
  }
};

using CapacityOptions = std::variant<Dropless, Limited>;

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
  int64_t every = 1;
  int64_t shared_experts = 0;
  RouterOptions router;
  BalanceOptions balance;
  CapacityOptions capacity;
  Match match = Match::none;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("experts", o.experts, "feed-forwards to choose from");
    visit("active", o.active, "experts that a position uses");
    visit("d_hidden", o.d_hidden, "width of one expert's hidden layer");
    visit("activation", o.activation, "relu, gelu or silu");
    visit("gated", o.gated,
          "multiply the activation by a second projection of the input (silu: SwiGLU)");
    visit("every", o.every,
          "every n-th layer has experts, the others a dense feed-forward of the active width");
    visit("shared_experts", o.shared_experts, "further experts that every position uses");
    visit("router", o.router, "how experts are chosen");
    visit("balance", o.balance, "losses that spread the work");
    visit("capacity", o.capacity, "whether an expert's work is limited");
    visit("match", o.match,
          "active or total: a dense feed-forward with the mixture's active or total width instead");
  }
  template <class Require>
  static void rules(const MixtureOptions& o, Require&& require);
};

/// The dense feed-forward with the same widths: of what one position uses, or of everything.
inline DenseFeedForward dense_twin(const MixtureOptions& o, Match match) {
  const int64_t experts = (match == Match::total ? o.experts : o.active) + o.shared_experts;
  return {.d_hidden = experts * o.d_hidden, .activation = o.activation, .gated = o.gated};
}

template <class Require>
void MixtureOptions::rules(const MixtureOptions& o, Require&& require) {
  require(o.experts >= 1 && o.experts <= 1024, "experts", "must be from 1 to 1024");
  require(o.active >= 1 && o.active <= o.experts, "active", "must be from 1 to experts");
  require(o.d_hidden >= 1 && o.d_hidden <= 1'048'576, "d_hidden", "must be from 1 to 1048576");
  require(o.every >= 1 && o.every <= 1000, "every", "must be from 1 to 1000");
  require(o.shared_experts >= 0 && o.shared_experts <= 1024, "shared_experts",
          "must be from 0 to 1024");
  const auto* softmax = std::get_if<SoftmaxRouter>(&o.router);
  const auto* sigmoid = std::get_if<SigmoidRouter>(&o.router);
  const bool renormalized =
      (softmax != nullptr && softmax->renormalize) || (sigmoid != nullptr && sigmoid->renormalize);
  require(o.active > 1 || o.experts == 1 || !renormalized, "router.renormalize",
          "must be false where active is 1: the only weight would always be 1, and the router "
          "would learn nothing");
  require(o.active > 1 || o.experts == 1 || !std::holds_alternative<NoisyRouter>(o.router),
          "router.kind",
          "cannot be noisy where active is 1: the only weight would always be 1, and the router "
          "would learn nothing; choose switch");
  require(o.active == 1 || !std::holds_alternative<SwitchRouter>(o.router), "active",
          "must be 1 with the switch router");
  require(o.active == 2 || !std::holds_alternative<GshardRouter>(o.router), "active",
          "must be 2 with the gshard router");
  std::visit(
      [&]<class Held>(const Held&) {
        require(
            !Held::fixes_loads || std::holds_alternative<Dropless>(o.capacity), "capacity.kind",
            "has no effect: with " + std::string(Held::name) + " every expert has its fixed share");
      },
      o.router);
}

}  // namespace ablate::models
