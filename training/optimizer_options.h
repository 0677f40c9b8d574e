#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "options/bounds.h"
#include "options/enumeration.h"
#include "training/schedule_options.h"

namespace ablate::training {

// Every optimizer states
//   steps_have_one_size()  whether the size of steps depends only on the learning rate, not on a
//                          matrix's shape
//   carries_over_widths()  whether a learning rate can carry over to other widths
//   averages               whether the weights that are evaluated are an average of its steps
// and has a Rule in optimizer_rules.h.

/// Its constants are those of Vaswani et al. 2017, section 5.3.
struct Adam {
  static constexpr std::string_view name = "adam";
  static constexpr std::string_view about =
      "a step by the mean of the gradients, divided by the root of the mean of their squares "
      "(Kingma & Ba 2015, arXiv 1412.6980)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return true; }
  bool carries_over_widths() const { return true; }
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;

  static void fields(auto& o, auto&& visit) {
    visit("beta1", o.beta1, "decay of the first moment", options::from_below(0, 1));
    visit("beta2", o.beta2, "decay of the second moment", options::from_below(0, 1));
    visit("epsilon", o.epsilon, "added to the root of the second moment", options::above(0));
  }
};

/// Grokking needs a decay of 1 (Power et al. 2022).
inline constexpr auto kDecays = options::from(0, 10);

/// An independent decay is a share of the weights.
void decay_rule(const auto& o, auto& require) {
  require(!o.independent_decay || o.weight_decay < 1, "weight_decay",
          "must be below 1 if independent_decay is true: a step at the peak takes this share off");
}

/// The keys of decoupled weight decay: a step subtracts learning rate * decay * weight.
void decoupled_decay_fields(auto& o, auto& visit) {
  visit("weight_decay", o.weight_decay,
        "decoupled decay of weight matrices, embeddings and output, scaled by the schedule's "
        "learning rate without multipliers",
        kDecays);
  visit("cautious_decay", o.cautious_decay,
        "decay only the weights that the step moves towards zero, too (Chen et al. 2025)");
  visit("independent_decay", o.independent_decay,
        "scale the decay by the share of the schedule's peak, so that it does not depend on the "
        "peak (Wortsman et al. 2023)");
}

struct AdamW : Adam {
  static constexpr std::string_view name = "adamw";
  static constexpr std::string_view about =
      "Adam with decoupled weight decay, which spares norms and biases (Loshchilov & Hutter 2019, "
      "arXiv 1711.05101)";
  double weight_decay = 0.01;
  bool cautious_decay = false, independent_decay = false;

  static void fields(auto& o, auto&& visit) {
    Adam::fields(o, visit);
    decoupled_decay_fields(o, visit);
  }
  static void rules(const AdamW& o, auto&& require) { decay_rule(o, require); }
};

/// As optax.nadamw writes it: the numerator of a step is the first moment of the next one, as far
/// as it is known.
struct NAdamW : AdamW {
  static constexpr std::string_view name = "nadamw";
  static constexpr std::string_view about =
      "AdamW that looks ahead along its first moment (Dozat 2016, Incorporating Nesterov Momentum "
      "into Adam)";
};

/// Algorithm 2; what is left of a step is longer by the share that is left out.
struct CautiousAdamW : AdamW {
  static constexpr std::string_view name = "cautious_adamw";
  static constexpr std::string_view about =
      "AdamW without the elements of a step that go against the gradient (Liang et al. 2024, arXiv "
      "2411.16085)";
};

/// Queries and keys have one second moment for each output, too; in the source it is one for each
/// head.
struct AdamMini : AdamW {
  static constexpr std::string_view name = "adam_mini";
  static constexpr std::string_view about =
      "AdamW with one second moment for each output of a matrix, each token and each vector (Zhang "
      "et al. 2024, arXiv 2406.16793)";
};

/// Algorithm 2 in its approximate form, MARS-AdamW: the last gradient is that of the last batch.
struct Mars : AdamW {
  static constexpr std::string_view name = "mars";
  static constexpr std::string_view about =
      "AdamW whose gradients are corrected by how they have changed since the last update (Yuan et "
      "al. 2024, arXiv 2411.10438)";
  double gamma = 0.025;

  static void fields(auto& o, auto&& visit) {
    AdamW::fields(o, visit);
    visit("gamma", o.gamma, "scale of the correction", options::from(0, 1));
  }
  static void rules(const Mars& o, auto&& require) {
    AdamW::rules(o, require);
    require(o.gamma == 0 || o.beta1 > 0, "gamma", "has no effect if beta1 is 0; set it to 0");
  }
};

/// As torch.optim.SGD writes it: v = momentum v + g, and the step is v, or g + momentum v with
/// Nesterov's look-ahead.
struct Sgd {
  static constexpr std::string_view name = "sgd";
  static constexpr std::string_view about =
      "stochastic gradient descent with momentum (Sutskever et al. 2013)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return false; }
  bool carries_over_widths() const { return false; }
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("momentum", o.momentum, "share of the last step's velocity that is kept; 0: plain SGD",
          options::from_below(0, 1));
    visit("nesterov", o.nesterov, "look ahead along the velocity (Nesterov)");
    visit("weight_decay", o.weight_decay,
          "L2 regularisation: this factor of the weight matrices is added to their gradients",
          kDecays);
  }
  static void rules(const Sgd& o, auto&& require) {
    require(!o.nesterov || o.momentum > 0, "nesterov", "needs momentum");
  }
};

/// Every element moves by exactly the learning rate, which should be 3 to 10 times smaller than
/// Adam's (algorithm 2).
struct Lion {
  static constexpr std::string_view name = "lion";
  static constexpr std::string_view about =
      "the sign of an interpolated momentum, with decoupled weight decay (Chen et al. 2023, arXiv "
      "2302.06675)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return true; }
  bool carries_over_widths() const { return true; }
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0.0;
  bool cautious_decay = false, independent_decay = false;

  static void fields(auto& o, auto&& visit) {
    visit("beta1", o.beta1,
          "weight of the momentum, against the gradient, in the direction whose sign is the step",
          options::from_below(0, 1));
    visit("beta2", o.beta2, "decay of the momentum", options::from_below(0, 1));
    decoupled_decay_fields(o, visit);
  }
  static void rules(const Lion& o, auto&& require) { decay_rule(o, require); }
};

/// The scale of an orthogonalised step of an R by C matrix (outputs by inputs), named as in
/// torch.optim.Muon: 0.2 sqrt(max(R, C)), which gives the step Adam's usual size (Liu et al. 2025,
/// section 2.2), or sqrt(max(1, R / C)) (Jordan 2024).
ABLATE_ENUM(MuonScale, match_rms_adamw, original);

/// The polynomials of the five steps of an orthogonalisation: one that rises steeply at 0 for all
/// (Jordan 2024), or for each step the one that brings the singular values that may be left the
/// closest to 1 (Amsel et al. 2025, Polar Express, for singular values from 0.001 on).
ABLATE_ENUM(MuonCoefficients, jordan, polar_express);

/// The precision of the products that orthogonalise a step.
ABLATE_ENUM(MuonPrecision, fp32, bf16);

/// Matrices that the program keeps in one tensor (queries, keys and values; gate and up; the
/// experts of a mixture) are orthogonalised each by itself. Embeddings, output, norms and biases
/// are moved by AdamW. Weight decay is decoupled for both.
struct Muon {
  static constexpr std::string_view name = "muon";
  static constexpr std::string_view about =
      "the momentum of every matrix within a layer, made orthogonal by five steps of Newton and "
      "Schulz (Jordan 2024)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return scale == MuonScale::match_rms_adamw; }
  bool carries_over_widths() const { return steps_have_one_size(); }
  double momentum = 0.95;
  bool nesterov = true;
  MuonScale scale = MuonScale::match_rms_adamw;
  MuonCoefficients coefficients = MuonCoefficients::jordan;
  MuonPrecision precision = MuonPrecision::fp32;
  double weight_decay = 0.0;
  bool cautious_decay = false, independent_decay = false;
  Adam adam;

  static void fields(auto& o, auto&& visit) {
    visit("momentum", o.momentum, "decay of the momentum, an average of gradients",
          options::from_below(0, 1));
    visit("nesterov", o.nesterov, "look ahead along the momentum (Nesterov)");
    visit("scale", o.scale,
          "scale of a step (queries, keys and values are orthogonalised separately): "
          "match_rms_adamw, for Adam's learning rates, or original, which needs a rate some 20 "
          "times as high, and training.lr_multipliers for the rest");
    visit("coefficients", o.coefficients,
          "polynomials of the five steps that orthogonalise: jordan, one for all; polar_express, "
          "which end closer to an orthogonal matrix");
    visit("precision", o.precision,
          "precision of the products that orthogonalise a step: fp32, or bf16, as in Jordan "
          "(2024), if the device has it");
    decoupled_decay_fields(o, visit);
    visit("adam", o.adam, "Adam for embeddings, output, norms and biases");
  }
  static void rules(const Muon& o, auto&& require) {
    require(!o.nesterov || o.momentum > 0, "nesterov", "needs momentum");
    decay_rule(o, require);
  }
  /// Moves what is no matrix within a layer.
  AdamW rest() const { return {adam, weight_decay, cautious_decay}; }
};

/// Every row, the weights of one output, is divided by the root of a running mean of its squares,
/// and the matrix keeps its norm (algorithm 1).
struct NorMuon : Muon {
  static constexpr std::string_view name = "normuon";
  static constexpr std::string_view about =
      "Muon whose orthogonal steps have rows of even sizes (Li et al. 2025, arXiv 2510.05491)";
  double row_decay = 0.95;

  static void fields(auto& o, auto&& visit) {
    Muon::fields(o, visit);
    visit("row_decay", o.row_decay, "decay of the mean squares of the rows of a step (beta2)",
          options::from_below(0, 1));
  }
  static void rules(const NorMuon& o, auto&& require) { Muon::rules(o, require); }
};

/// Matrices that the program keeps in one tensor have each its own. Embeddings, output, norms and
/// biases are moved by AdamW. The first gradient moves no matrix. Steps have Adam's size in the
/// eigenbases alone: in the weights they lie between an orthogonal matrix and one of even elements,
/// by how much noise the gradients have, and no rule of the width holds for both.
struct Soap {
  static constexpr std::string_view name = "soap";
  static constexpr std::string_view about =
      "Adam in the eigenbases that Shampoo finds for the outputs and inputs of every matrix within "
      "a layer (Vyas et al. 2024, arXiv 2409.11321)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return true; }
  bool carries_over_widths() const { return false; }
  double beta1 = 0.95;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  int64_t precondition_frequency = 10;
  double weight_decay = 0.0;
  bool cautious_decay = false, independent_decay = false;
  Adam adam;

  static void fields(auto& o, auto&& visit) {
    visit("beta1", o.beta1, "decay of the first moment", options::from_below(0, 1));
    visit("beta2", o.beta2,
          "decay of the second moment and of the products of gradients that the eigenbases are of",
          options::from_below(0, 1));
    visit("epsilon", o.epsilon, "added to the root of the second moment", options::above(0));
    visit("precondition_frequency", o.precondition_frequency,
          "updates from one correction of the eigenbases to the next", options::at_least(1));
    decoupled_decay_fields(o, visit);
    visit("adam", o.adam, "Adam for embeddings, output, norms and biases");
  }
  static void rules(const Soap& o, auto&& require) { decay_rule(o, require); }
  /// Moves what is no matrix within a layer.
  AdamW rest() const { return {adam, weight_decay, cautious_decay}; }
};

/// In the form of Wen et al. 2025 (arXiv 2509.02046): a matrix has Muon's steps of scale original
/// without its look-ahead, and all else the sign of its momentum. Learning rates of matrices are
/// some 10 times those of the rest, which training.lr_multipliers sets.
struct Scion {
  static constexpr std::string_view name = "scion";
  static constexpr std::string_view about =
      "steps of one size in a norm of each parameter: orthogonal ones for the matrices within "
      "layers, signs for the rest (Pethick et al. 2025, arXiv 2502.07529)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return false; }
  bool carries_over_widths() const { return false; }
  double momentum = 0.95;
  double weight_decay = 0.0;
  bool cautious_decay = false, independent_decay = false;

  static void fields(auto& o, auto&& visit) {
    visit("momentum", o.momentum, "decay of the momentum, an average of gradients",
          options::from_below(0, 1));
    decoupled_decay_fields(o, visit);
  }
  static void rules(const Scion& o, auto&& require) { decay_rule(o, require); }
  Muon matrices() const {
    return {.momentum = momentum,
            .nesterov = false,
            .scale = MuonScale::original,
            .weight_decay = weight_decay,
            .cautious_decay = cautious_decay};
  }
  /// Moves what is no matrix within a layer.
  Lion rest() const {
    return {.beta1 = momentum,
            .beta2 = momentum,
            .weight_decay = weight_decay,
            .cautious_decay = cautious_decay};
  }
};

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
                                      Muon, NorMuon, Soap, Scion, ScheduleFree>;

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
