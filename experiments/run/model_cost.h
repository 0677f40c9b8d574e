#pragma once

#include <cstdint>
#include <string>

#include "experiments/config/experiment.h"
#include "models/transformer.h"

namespace ablate::run {

/// What a model costs for sources and targets of `length` tokens each.
struct ModelCost {
  int64_t parameters = 0;
  int64_t active_parameters = 0;  // of a mixture those that one position uses
  /// Floating-point operations of a forward pass, per target token: two for every weight of a
  /// matrix product, and the products of queries with keys and of probabilities with values. Norms,
  /// activations and position schemes are left out. A training step takes three times as many.
  double flops_per_token = 0;
  /// Bytes that one training pass keeps for its backward pass, per target token, measured.
  double activation_bytes_per_token = 0;
};

/// Parameters that one position uses: of a mixture's experts `active` and the shared ones.
int64_t active_parameter_count(const models::TransformerOptions& options,
                               const models::TransformerImpl& model);

/// Floating-point operations per target token, as in ModelCost.
double flops_per_token(const models::TransformerOptions& options,
                       const models::TransformerImpl& model, int64_t length);

/// Runs one pass. REQUIRES: CachingAllocator installed, for the activation memory.
ModelCost cost_of(const models::TransformerOptions& options, const models::Vocabulary& vocabulary,
                  int64_t length);

/// The tree of modules with the parameters of each, a line for each; equal layers are one line.
std::string module_tree(const torch::nn::Module& model);

}  // namespace ablate::run
