#pragma once

#include <cstdint>
#include <string>

#include "experiments/config/experiment.h"
#include "models/transformer_flops.h"
#include "training/likelihood.h"

namespace ablate::run {

/// What a model costs for sources and targets of `length` tokens each.
struct ModelCost {
  int64_t parameters = 0;
  int64_t active_parameters = 0;  // of a mixture those that one position uses
  /// Floating-point operations of a forward pass (models/transformer_flops.h) over one source and
  /// one target, divided by `length`. A training step takes three times as many.
  double flops_per_token = 0;
  /// Bytes that one training pass keeps for its backward pass, per target token, measured.
  double activation_bytes_per_token = 0;
};

/// Parameters that one position uses: of a mixture's experts `active` and the shared ones.
int64_t active_parameter_count(const models::TransformerImpl& model);

models::PassExtent extent_of(const data::Batch& batch);

/// The passes that score a test set, and the tokens that they predict.
struct ScoringPasses {
  std::vector<models::PassExtent> extents;
  int64_t tokens = 0;
};

ScoringPasses scoring_passes(training::ScoredBatches batches);

/// Floating-point operations of these passes, divided by the tokens that they predict.
double flops_per_token(const models::TransformerImpl& model, const ScoringPasses& passes);

/// Runs one pass. REQUIRES: CachingAllocator installed, for the activation memory.
ModelCost cost_of(const models::TransformerOptions& options, const models::Vocabulary& vocabulary,
                  int64_t length);

/// The tree of modules with the parameters of each. Every kind of layer stands there once, with the
/// numbers of the layers that are of it, from 1 on, and what it has that the model does not say.
std::string module_tree(const models::TransformerImpl& model);

}  // namespace ablate::run
