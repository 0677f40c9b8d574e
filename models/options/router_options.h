#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "models/options/option_traits.h"
#include "options/bounds.h"

namespace ablate::models {

// Every router states
//   causal              whether its choice at a position depends on no later one
//   needs_padding_mask  whether it reads `company` even without padding
//   fixes_loads         whether every expert has its fixed share, so that no capacity limits it
//   only_active         the only number of experts that a token may use; 0: any
//   moefied             whether it is only for models made by `ablate moefy`
// and has a RouterOf in router.cpp.

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

/// The `active` likeliest have the weights p, or p divided by the chosen ones' sum.
struct SoftmaxRouter : TokenChoice {
  static constexpr std::string_view name = "softmax";
  static constexpr std::string_view about =
      "the experts that a softmax over all of them finds likeliest, as in Mixtral (Jiang et al. "
      "2024, arXiv 2401.04088)";

  bool renormalize = true;
  double jitter = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("renormalize", o.renormalize, "divide the chosen weights by their sum");
    visit("jitter", o.jitter,
          "in training, multiply the router's input by random numbers in [1 - jitter, 1 + jitter]",
          options::from_below(0, 1));
  }
};

struct SwitchRouter : TokenChoice {
  static constexpr std::string_view name = "switch";
  static constexpr std::string_view about =
      "the likeliest expert, with its probability as weight (Fedus et al. 2021, arXiv 2101.03961)";
  static constexpr int64_t only_active = 1;

  double jitter = 0.01;

  static void fields(auto& o, auto&& visit) {
    visit("jitter", o.jitter,
          "in training, multiply the router's input by random numbers in [1 - jitter, 1 + jitter]",
          options::from_below(0, 1));
  }
};

/// Noise is added in training, and the softmax runs over the chosen ones. Starts from zeros. Its
/// load is smooth: 1 + the squared variation of the experts' expected positions (appendix A).
struct NoisyRouter : TokenChoice {
  static constexpr std::string_view name = "noisy";
  static constexpr std::string_view about =
      "the likeliest experts by scores with noise of a trained size (Shazeer et al. 2017, arXiv "
      "1701.06538)";
};

/// Weights are divided by their sum; training uses the second with a probability of twice its
/// weight. Its load is that of first choices (algorithm 1).
struct GshardRouter : TokenChoice {
  static constexpr std::string_view name = "gshard";
  static constexpr std::string_view about =
      "the likeliest two experts, the second at random by its weight in training (Lepikhin et al. "
      "2020, arXiv 2006.16668)";
  static constexpr int64_t only_active = 2;
};

/// The bias only selects: after every training batch it rises by `bias_step` for experts below the
/// mean load and falls for those above.
struct SigmoidRouter : TokenChoice {
  static constexpr std::string_view name = "sigmoid";
  static constexpr std::string_view about =
      "sigmoid scores with a bias that balances the experts without a loss (DeepSeek-AI 2024, "
      "DeepSeek-V3, arXiv 2412.19437)";

  bool renormalize = true;
  double bias_step = 1e-3;

  static void fields(auto& o, auto&& visit) {
    visit("renormalize", o.renormalize, "divide the chosen weights by their sum");
    visit("bias_step", o.bias_step, "step of the selection bias after each batch",
          options::from_below(0, 1));
  }
};

/// `active` per position on average: in training among those of the batch, in evaluation among
/// those of one sequence, so that outputs do not depend on other sequences.
struct ExpertChoiceRouter : EmptyOptions {
  static constexpr std::string_view name = "expert_choice";
  static constexpr std::string_view about =
      "every expert chooses its likeliest positions (Zhou et al. 2022, arXiv 2202.09368)";
  static constexpr bool causal = false;
  static constexpr bool needs_padding_mask = true;
  static constexpr bool fixes_loads = true;
  static constexpr int64_t only_active = 0;
  static constexpr bool moefied = false;
};

struct HashRouter : TokenChoice {
  static constexpr std::string_view name = "hash";
  static constexpr std::string_view about =
      "experts chosen by the token itself through a fixed hash, weighted alike (Roller et al. "
      "2021, "
      "arXiv 2106.04426)";
};

/// The most that a router of a moefied model can reach.
struct OracleRouter : Moefied {
  static constexpr std::string_view name = "oracle";
  static constexpr std::string_view about =
      "the experts whose neurons are most active, found by computing all of them (Zhang et al. "
      "2022, arXiv 2110.01786)";
};

struct SimilarityRouter : Moefied {
  static constexpr std::string_view name = "similarity";
  static constexpr std::string_view about =
      "the experts whose neurons' mean direction is nearest the input's, in models made by ablate "
      "moefy (Zhang et al. 2022, arXiv 2110.01786)";
};

struct NetworkRouter : Moefied {
  static constexpr std::string_view name = "network";
  static constexpr std::string_view about =
      "the experts that a small network expects to be most active, in models made by ablate moefy "
      "(Zhang et al. 2022, arXiv 2110.01786)";
};

using RouterOptions =
    std::variant<SoftmaxRouter, SwitchRouter, NoisyRouter, GshardRouter, SigmoidRouter,
                 ExpertChoiceRouter, HashRouter, OracleRouter, SimilarityRouter, NetworkRouter>;

}  // namespace ablate::models
