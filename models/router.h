#pragma once

#include <memory>

#include "models/expert_options.h"
#include "models/forward_context.h"
#include "models/module.h"
#include "models/routing.h"

namespace ablate::models {

// N positions, D model width, E experts, k slots: choices of one position

/// What a router sees of a batch.
struct RouterInput {
  torch::Tensor x;  // [N, D]
  /// The positions that one choice of an expert's is among, true where there is one: of the whole
  /// batch in training, of one sequence in evaluation. Undefined unless the router needs it or some
  /// are padded. // [G, M], N = G M
  torch::Tensor company;
  torch::Tensor token_ids;    // [N]
  torch::Tensor up, up_bias;  // the experts' first layer // [E, F, D], [E, F] or undefined
};

/// Chooses experts. All of its arithmetic is in float or wider, whatever the type of x.
class Router : public Module {
 public:
  virtual RouterOutput forward(const RouterInput& input, const ForwardContext& context) = 0;
  /// Called after an update with the positions that its batches sent to each expert. // [E]
  virtual void update_selection_bias(const torch::Tensor& counts);
};

/// Sum of every expert's hidden layer under ReLU. // [N, D], [E, F, D], [E, F] -> [N, E]
torch::Tensor expert_activation(const torch::Tensor& x, const torch::Tensor& up,
                                const torch::Tensor& up_bias);

/// Minus the squared distance between x / |x| and every centre, up to what all experts share.
/// // [N, D], [E, D] -> [N, E]
torch::Tensor centre_similarity(const torch::Tensor& x, const torch::Tensor& centres);

/// second tanh(first x / |x|), as in the authors' code for Zhang et al. 2022. // [N, D], [E, D],
/// [E, E] -> [N, E]
torch::Tensor predicted_activation(const torch::Tensor& x, const torch::Tensor& first,
                                   const torch::Tensor& second);

std::shared_ptr<Router> make_router(const MixtureOptions& options, int64_t d_model);

}  // namespace ablate::models
