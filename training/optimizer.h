#pragma once

#include <memory>
#include <vector>

#include "training/optimizer_options.h"
#include "training/weights.h"

namespace ablate::training {

/// Moves a model's parameters against their gradients. Weight decay acts on all that are not
/// registered as vectors; frozen ones, which require no gradient, are left alone.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update with the gradients now in the parameters; parameters without one are left alone.
  virtual void step(double learning_rate) = 0;
  /// Forgets all gradients, so that the next backward pass writes instead of adding.
  virtual void clear_gradients() = 0;
  /// Gradients of all parameters that have one.
  virtual std::vector<torch::Tensor> gradients() const = 0;
  /// What is remembered between steps, as "<what>.<parameter's name>", shared with the optimizer.
  virtual Tensors state() const = 0;

  /// Copies a saved state in, as load_tensors does.
  void load(const Tensors& saved);
};

/// Throws c10::Error where a parameter belongs to no models::Module, which states its role.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options,
                                          const torch::nn::Module& model,
                                          const RateOptions& rates = {});

}  // namespace ablate::training
