#pragma once

#include <memory>

#include "models/expert_options.h"
#include "models/libtorch.h"
#include "models/pass.h"

namespace ablate::models {

// N positions, D model width, E experts, k slots: choices of one position

/// What a router sees of a batch.
struct RouterInput {
  torch::Tensor x;     // [N, D]
  torch::Tensor real;  // false at padding // [N]
  torch::Tensor ids;   // [N]
  Dropout& pass;
  torch::Tensor up, up_bias;  // the experts' first layer // [E, F, D], [E, F] or undefined
};

/// The experts of every position. A slot with expert E is empty.
struct Choice {
  torch::Tensor expert;       // [N, k]
  torch::Tensor weight;       // in float or wider // [N, k]
  torch::Tensor probability;  // of each expert; undefined: nothing is scored // [N, E]
  torch::Tensor scores;       // before any softmax // [N, E]
  torch::Tensor chance;       // of being chosen if the noise were drawn again; or undefined [N, E]
  bool balances = true;       // whether the load is to be balanced by a loss
};

/// Chooses experts. All of its arithmetic is in float or wider, whatever the type of x.
class Router : public torch::nn::Module {
 public:
  virtual Choice choose(const RouterInput& input) = 0;
  /// Called after an update with the positions that its batches sent to each expert. // [E]
  virtual void learn(const torch::Tensor& counts);
};

/// Sum of every expert's hidden layer under ReLU. // [N, D], [E, F, D], [E, F] -> [N, E]
torch::Tensor activity(const torch::Tensor& x, const torch::Tensor& up,
                       const torch::Tensor& up_bias);

/// Minus the squared distance between x / |x| and every centre, up to what all experts share.
/// // [N, D], [E, D] -> [N, E]
torch::Tensor nearness(const torch::Tensor& x, const torch::Tensor& centres);

/// second tanh(first x / |x|), as in the authors' code for Zhang et al. 2022. // [N, D], [E, D],
/// [E, E] -> [N, E]
torch::Tensor expected_activity(const torch::Tensor& x, const torch::Tensor& first,
                                const torch::Tensor& second);

std::shared_ptr<Router> make_router(const MixtureOptions& options, int64_t d_model);

}  // namespace ablate::models
