#pragma once

#include <memory>
#include <vector>

#include "models/module.h"
#include "training/optimizer_options.h"
#include "training/weights.h"

namespace ablate::training {

/// Moves a model's parameters against their gradients. Weight decay acts on all that are not
/// registered as vectors; frozen ones, which require no gradient, do not change.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update with the gradients now in the parameters; parameters without one do not change.
  virtual void step(double learning_rate) = 0;
  /// Clears all gradients, so that the next backward pass writes instead of adding.
  virtual void clear_gradients() = 0;
  /// Gradients of all parameters that have one.
  virtual std::vector<torch::Tensor> gradients() const = 0;
  /// The state between steps, by "<kind>.<parameter's name>"; the tensors are the optimizer's own.
  virtual Tensors state() const = 0;

  /// Copies a saved state in, as load_tensors does.
  void load(const Tensors& saved);
};

/// Throws c10::Error if a parameter belongs to no models::Module, which states its role.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options,
                                          const torch::nn::Module& model,
                                          const LrMultipliers& multipliers = {});

/// Subtracts the share `lost` of every parameter; if `cautious` only of the elements whose
/// direction, against which the step goes, has their sign (Chen et al. 2025, Cautious Weight Decay,
/// algorithm 1).
void decay(const std::vector<torch::Tensor>& parameters,
           const std::vector<torch::Tensor>& directions, double lost, bool cautious);

}  // namespace ablate::training
