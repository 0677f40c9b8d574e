#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/libtorch.h"
#include "training/training_options.h"

namespace ablate::training {

/// Adam with decoupled weight decay (Loshchilov & Hutter 2019) over LibTorch's fused kernel; Adam
/// (Kingma & Ba 2015) is decay 0. Vectors (norms, biases) never decay; frozen parameters, which
/// require no gradient, are left alone.
class Optimizer {
 public:
  Optimizer(const torch::nn::Module& model, const OptimizerOptions& options);

  /// One update with the gradients now in the parameters; parameters without one are left alone.
  void step(double learning_rate);
  /// Forgets all gradients, so that the next backward pass writes instead of adding.
  void clear_gradients();
  /// Gradients of all parameters that have one.
  std::vector<torch::Tensor> gradients() const;

  /// Moments and step counts by parameter name, shared with the optimizer.
  std::map<std::string, torch::Tensor> state() const;
  /// Copies a saved state in; throws c10::Error where names or shapes differ.
  void load(const std::map<std::string, torch::Tensor>& state);

 private:
  struct Entry {
    std::string name;
    torch::Tensor parameter, first, second, count;
  };
  void step_group(bool decayed, double learning_rate);

  AdamW options_;
  std::vector<Entry> entries_;
};

}  // namespace ablate::training
