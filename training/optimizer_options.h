#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "options/bounds.h"
#include "training/element_optimizer_options.h"
#include "training/matrix_optimizer_options.h"
#include "training/schedule_options.h"

namespace ablate::training {

// Every optimizer states
//   steps_have_one_size()  whether the size of steps depends only on the learning rate, not on a
//                          matrix's shape
//   carries_over_widths()  whether a learning rate can carry over to other widths
//   averages               whether the weights that are evaluated are an average of its steps
// and has a Rule in optimizer_rules.h.

/// Algorithm 1: steps move a point z. Its average x, weighted by the square of the learning rate,
/// is evaluated and saved; gradients are taken at y = (1 - beta1) z + beta1 x. The learning rate
/// only rises, during the warm-up.
struct ScheduleFree {
  static constexpr std::string_view name = "schedule_free";
  static constexpr std::string_view about =
      "AdamW that evaluates an average of its steps, so that the rate need not fall (Defazio et "
      "al. 2024, arXiv 2405.15682)";
  static constexpr bool averages = true;
  bool steps_have_one_size() const { return true; }
  bool carries_over_widths() const { return true; }
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("beta1", o.beta1, "weight of the average at the point at which gradients are taken",
          options::between(0, 1));
    visit("beta2", o.beta2, "decay of the second moment", options::from_below(0, 1));
    visit("epsilon", o.epsilon, "added to the root of the second moment", options::above(0));
    visit("weight_decay", o.weight_decay,
          "decay of weight matrices, embeddings and output, taken at that point and scaled by the "
          "learning rate without multipliers",
          kDecays);
  }
};

using OptimizerOptions = std::variant<Adam, AdamW, NAdamW, CautiousAdamW, AdamMini, Mars, Sgd, Lion,
                                      Sophia, Muon, NorMuon, Soap, Kron, Scion, ScheduleFree>;

/// Whether it moves only the matrices within layers itself.
template <class Optimizer>
concept MatrixOptimizer = requires(const Optimizer& o) {
  o.rest();
};

inline bool steps_have_one_size(const OptimizerOptions& optimizer) {
  return std::visit([](const auto& one) { return one.steps_have_one_size(); }, optimizer);
}

inline bool carries_over_widths(const OptimizerOptions& optimizer) {
  return std::visit([](const auto& one) { return one.carries_over_widths(); }, optimizer);
}

constexpr bool averages(const OptimizerOptions& optimizer) {
  return std::visit([]<class Held>(const Held&) { return Held::averages; }, optimizer);
}

/// The updates from one in which the optimizer learns the curvature to the next, of which the first
/// update is one; absent: it never does.
inline std::optional<int64_t> curvature_interval(const OptimizerOptions& optimizer) {
  return std::visit(
      [](const auto& one) -> std::optional<int64_t> {
        if constexpr (requires { one.curvature_interval; }) return one.curvature_interval;
        return {};
      },
      optimizer);
}

/// Learning-rate multipliers per parameter group (Yang et al. 2022, table 3). Decoupled weight
/// decay follows the schedule only: neither these nor the width change it.
struct LrMultipliers {
  double embeddings = 1.0, matrices = 1.0, output = 1.0, vectors = 1.0;

  static void fields(auto& o, auto&& visit) {
    constexpr auto kFactors = options::above(0, 1000);
    visit("embeddings", o.embeddings,
          "for token and position embeddings, and an output tied to them", kFactors);
    visit("matrices", o.matrices, "for the matrices within layers", kFactors);
    visit("output", o.output, "for an untied output projection", kFactors);
    visit("vectors", o.vectors, "for norms, biases and gains", kFactors);
  }
};

/// The optimizer with a decay that learning rates of this schedule scale: an independent one is
/// divided by the peak.
inline OptimizerOptions with_scaled_decay(OptimizerOptions optimizer,
                                          const ScheduleOptions& schedule) {
  std::visit(
      [&](auto& held) {
        if constexpr (requires { held.independent_decay; })
          if (held.independent_decay) held.weight_decay /= peak_of(schedule);
      },
      optimizer);
  return optimizer;
}

}  // namespace ablate::training
