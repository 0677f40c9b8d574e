#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

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

/// Experts chosen by the token itself through a fixed hash, weighted alike (Roller et al. 2021).
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

}  // namespace ablate::models
