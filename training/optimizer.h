#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/libtorch.h"
#include "training/optimizer_options.h"

namespace ablate::training {

/// Moves a model's parameters against their gradients. Weight decay acts on parameters that
/// are registered as matrices; frozen ones, which require no gradient, are left alone.
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
  virtual std::map<std::string, torch::Tensor> state() const = 0;

  /// Copies a saved state in; throws c10::Error naming the first tensor that is missing, surplus or
  /// of another shape.
  void load(const std::map<std::string, torch::Tensor>& saved);
};

/// Throws c10::Error where a parameter belongs to no models::Module, which states its role.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options,
                                          const torch::nn::Module& model);

}  // namespace ablate::training
