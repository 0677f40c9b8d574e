#pragma once

#include <cstdint>
#include <string_view>

#include "options/bounds.h"
#include "options/enumeration.h"
#include "training/element_optimizer_options.h"

namespace ablate::training {

// Optimizers of the matrices within layers; another one moves the rest: as optimizer_options.h
// says.

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

/// In the form of Wen et al. 2025 (arXiv 2509.02046), but for gradients that are not divided by
/// their norms, nor matrices cut into blocks. Matrices that the program keeps in one tensor have
/// each its own factors. Embeddings, output, norms and biases are moved by AdamW. A step of white
/// gradients has elements of size 1, some 4 times Adam's.
struct Kron {
  static constexpr std::string_view name = "kron";
  static constexpr std::string_view about =
      "the momentum of every matrix within a layer, whitened by a triangular factor for its "
      "outputs "
      "and one for its inputs (Li 2019, PSGD, arXiv 1809.10232)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return true; }
  bool carries_over_widths() const { return false; }
  double beta1 = 0.95;
  double precondition_rate = 0.2;
  int64_t precondition_start = 2000;
  int64_t precondition_frequency = 10;
  double weight_decay = 0.0;
  bool cautious_decay = false, independent_decay = false;
  Adam adam;

  static void fields(auto& o, auto&& visit) {
    visit("beta1", o.beta1, "decay of the momentum, an average of gradients",
          options::from_below(0, 1));
    visit("precondition_rate", o.precondition_rate,
          "relative step of the factors (preconditioner_lr)", options::between(0, 1));
    visit("precondition_start", o.precondition_start,
          "first updates, each of which corrects the factors", options::at_least(1));
    visit("precondition_frequency", o.precondition_frequency,
          "updates from one correction of the factors to the next afterwards",
          options::at_least(1));
    decoupled_decay_fields(o, visit);
    visit("adam", o.adam, "Adam for embeddings, output, norms and biases");
  }
  static void rules(const Kron& o, auto&& require) { decay_rule(o, require); }
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

}  // namespace ablate::training
