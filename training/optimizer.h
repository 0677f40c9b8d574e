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

  /// Learns the curvature, as far as this kind has any, from the gradients now in the parameters:
  /// of the mean loss of so many targets that the model has drawn.
  virtual void learn_curvature(int64_t /*targets*/) {}
  /// One update with the gradients now in the parameters; parameters without one do not change.
  virtual void step(double learning_rate) = 0;
  /// Puts the weights that are evaluated and saved into the parameters, until to_training() puts
  /// back those at which gradients are taken. Most kinds have no others.
  virtual void to_evaluation() {}
  /// The same after load(), if the parameters were loaded with the weights to be evaluated.
  virtual void to_training() {}
  /// Clears all gradients, so that the next backward pass writes instead of adding.
  virtual void clear_gradients() = 0;
  /// Gradients of all parameters that have one.
  virtual std::vector<torch::Tensor> gradients() const = 0;
  /// The state between steps, by "<kind>.<parameter's name>"; the tensors are the optimizer's own.
  virtual Tensors state() const = 0;

  /// Copies a saved state in, as load_tensors does.
  void load(const Tensors& saved);
};

/// While one exists, the parameters are the weights to be evaluated.
class EvaluatedWeights {
 public:
  explicit EvaluatedWeights(Optimizer& optimizer) : optimizer_(optimizer) {
    optimizer_.to_evaluation();
  }
  ~EvaluatedWeights() { optimizer_.to_training(); }
  EvaluatedWeights(const EvaluatedWeights&) = delete;
  EvaluatedWeights& operator=(const EvaluatedWeights&) = delete;

 private:
  Optimizer& optimizer_;
};

/// Throws c10::Error if a parameter belongs to no models::Module, which states its role.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options,
                                          const torch::nn::Module& model,
                                          const LrMultipliers& multipliers = {});

}  // namespace ablate::training
