#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/forward_context.h"
#include "models/libtorch.h"
#include "models/module.h"
#include "models/options/feed_forward_options.h"

namespace ablate::models {

// B batch, T positions, D model width, N positions of a batch, E experts, k slots: choices of one
// position

/// The experts that a router chose for every position. A slot with expert E is empty.
struct RouterOutput {
  torch::Tensor topk_idx;        // [N, k]
  torch::Tensor topk_weight;     // in float or wider // [N, k]
  torch::Tensor probs;           // of each expert; undefined: no scores // [N, E]
  torch::Tensor logits;          // before any softmax // [N, E]
  torch::Tensor selection_prob;  // probability of being chosen under new noise; or undefined [N, E]
  bool balances_load = true;     // whether a loss is to balance the load
  int64_t load_choices = 0;      // how many of a position's choices are its load; 0: all
};

/// How one mixture of experts routed the positions of one pass.
struct Routing {
  RouterOutput router;
  torch::Tensor padding_mask;  // true: keep; undefined: no padding // [N]
  torch::Tensor wanted_idx;    // the router's choices, empty at padding // [N, k]
  torch::Tensor kept_idx;      // those for which an expert had room // [N, k]
  int64_t experts, active;
  BalanceOptions balance;
};

/// The output of a feed-forward or a layer.
struct RoutedOutput {
  torch::Tensor output;            // [B, T, D]
  std::optional<Routing> routing;  // of a mixture of experts
};

/// Statistics of one Routing over its unpadded positions.
struct RoutingStatistics {
  torch::Tensor aux_loss;  // the losses below times their factors; undefined: no scores // []
  torch::Tensor load;      // E / (N k) sum_e count_e mean_p_e, 1 at balance; undefined: no scores;
                           // count and k are of load_choices // []
  torch::Tensor z;         // mean of the logits' log-sum-exp, squared; undefined: no scores // []
  torch::Tensor counts;    // positions sent to each expert // [E]
  torch::Tensor entropy;   // of a position's probabilities, mean, in nats // []
  torch::Tensor dropped;   // share of the choices for which an expert had no room // []
};

RoutingStatistics statistics_of(const Routing& routing);

/// The auxiliary loss to add to a mean loss: the mean over the mixtures. Undefined if there is
/// none. // []
torch::Tensor aux_loss(const std::vector<RoutingStatistics>& mixtures);

// N positions, D model width, E experts, k slots: choices of one position

/// The input of a router.
struct RouterInput {
  torch::Tensor x;  // [N, D]
  /// Groups of positions that an expert chooses from, false at padding: the whole batch in
  /// training, each sequence in evaluation. Undefined unless the router needs it or there is
  /// padding. // [G, M], N = G M
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

/// Minus the squared distance between x / |x| and every centre, up to a constant of all experts.
/// // [N, D], [E, D] -> [N, E]
torch::Tensor centre_similarity(const torch::Tensor& x, const torch::Tensor& centres);

/// second tanh(first x / |x|), as in the authors' code for Zhang et al. 2022. // [N, D], [E, D],
/// [E, E] -> [N, E]
torch::Tensor predicted_activation(const torch::Tensor& x, const torch::Tensor& first,
                                   const torch::Tensor& second);

std::shared_ptr<Router> make_router(const MixtureOptions& options, int64_t d_model);

}  // namespace ablate::models
