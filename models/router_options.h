#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

#include "models/option_traits.h"
#include "options/bounds.h"

namespace ablate::models {

class Router;
struct MixtureOptions;

// Every router states
//   causal              whether its choice at a position depends on no later one
//   needs_padding_mask  whether it reads `company` even without padding
//   fixes_loads         whether every expert has its fixed share, so that no capacity limits it
//   only_active         the only number of experts that a token may use; 0: any
//   moefied             whether it is only for models made by `ablate moefy`
// and has `make`, which is defined with the module in router.cpp.

/// Traits of routers in which every token chooses its experts.
struct TokenChoice : EmptyOptions {
  static constexpr bool causal = true;
  static constexpr bool needs_padding_mask = false;
  static constexpr bool fixes_loads = false;
  static constexpr int64_t only_active = 0;
  static constexpr bool moefied = false;
};

/// Members of the routers of models made by `ablate moefy`. All weights are 1.
struct Moefied : TokenChoice {
  static constexpr bool moefied = true;
};

/// p = softmax over all experts; the `active` likeliest are chosen with the weights p, or p divided
/// by the chosen ones' sum (Mixtral).
struct SoftmaxRouter : TokenChoice {
  static constexpr std::string_view name = "softmax";
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;

  bool renormalize = true;
  double jitter = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("renormalize", o.renormalize, "divide the chosen weights by their sum");
    visit("jitter", o.jitter,
          "in training, multiply the router's input by random numbers in [1 - jitter, 1 + jitter]",
          options::from_below(0, 1));
  }
};

/// The likeliest expert, with its probability as weight (Fedus et al. 2021, Switch).
struct SwitchRouter : TokenChoice {
  static constexpr std::string_view name = "switch";
  static constexpr int64_t only_active = 1;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;

  double jitter = 0.01;

  static void fields(auto& o, auto&& visit) {
    visit("jitter", o.jitter,
          "in training, multiply the router's input by random numbers in [1 - jitter, 1 + jitter]",
          options::from_below(0, 1));
  }
};

/// Noisy top-k (Shazeer et al. 2017): training adds noise of a trained size to the scores, and the
/// softmax runs over the chosen ones. Starts from zeros. Its load is smooth: 1 + the squared
/// variation of the experts' expected positions (appendix A).
struct NoisyRouter : TokenChoice {
  static constexpr std::string_view name = "noisy";
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// GShard (Lepikhin et al. 2020): the likeliest two, their weights divided by their sum; training
/// uses the second with a probability of twice its weight. Its load is that of first choices
/// (algorithm 1).
struct GshardRouter : TokenChoice {
  static constexpr std::string_view name = "gshard";
  static constexpr int64_t only_active = 2;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// Sigmoid scores with a bias that only selects (DeepSeek-V3, auxiliary-loss-free): after every
/// training batch it rises by `bias_step` for experts below the mean load and falls for those
/// above.
struct SigmoidRouter : TokenChoice {
  static constexpr std::string_view name = "sigmoid";
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;

  bool renormalize = true;
  double bias_step = 1e-3;

  static void fields(auto& o, auto&& visit) {
    visit("renormalize", o.renormalize, "divide the chosen weights by their sum");
    visit("bias_step", o.bias_step, "step of the selection bias after each batch",
          options::from_below(0, 1));
  }
};

/// Every expert chooses its likeliest positions (Zhou et al. 2022), `active` per position on
/// average: in training among those of the batch, in evaluation among those of one sequence, so
/// that outputs do not depend on other sequences.
struct ExpertChoiceRouter : EmptyOptions {
  static constexpr std::string_view name = "expert_choice";
  static constexpr bool causal = false;
  static constexpr bool needs_padding_mask = true;
  static constexpr bool fixes_loads = true;
  static constexpr int64_t only_active = 0;
  static constexpr bool moefied = false;
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// Experts chosen by the token itself through a fixed hash, weighted alike (Roller et al. 2021).
struct HashRouter : TokenChoice {
  static constexpr std::string_view name = "hash";
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// The experts whose neurons are most active, found by computing all of them: the most that a
/// router of a moefied model can reach (Zhang et al. 2022).
struct OracleRouter : Moefied {
  static constexpr std::string_view name = "oracle";
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// The experts whose neurons' mean direction is nearest the input's; made by `ablate moefy`.
struct SimilarityRouter : Moefied {
  static constexpr std::string_view name = "similarity";
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

/// The experts that a small network expects to be most active; made by `ablate moefy`.
struct NetworkRouter : Moefied {
  static constexpr std::string_view name = "network";
  std::shared_ptr<Router> make(const MixtureOptions& mixture, int64_t d_model) const;
};

using RouterOptions =
    std::variant<SoftmaxRouter, SwitchRouter, NoisyRouter, GshardRouter, SigmoidRouter,
                 ExpertChoiceRouter, HashRouter, OracleRouter, SimilarityRouter, NetworkRouter>;

}  // namespace ablate::models
