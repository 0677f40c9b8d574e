#pragma once

#include <optional>
#include <vector>

#include "models/expert_options.h"
#include "models/libtorch.h"

namespace ablate::models {

// B batch, T positions, D model width, N positions of a batch, E experts, k slots: choices of one
// position

/// The experts that a router chose for every position. A slot with expert E is empty.
struct RouterOutput {
  torch::Tensor topk_idx;     // [N, k]
  torch::Tensor topk_weight;  // in float or wider // [N, k]
  torch::Tensor probs;        // of each expert; undefined: nothing is scored // [N, E]
  torch::Tensor logits;       // before any softmax // [N, E]
  torch::Tensor
      selection_prob;         // of being chosen if the noise were drawn again; or undefined [N, E]
  bool balances_load = true;  // whether a loss is to balance the load
  int64_t load_choices = 0;   // how many of a position's choices are its load; 0: all
};

/// What one mixture of experts did with the positions of one pass.
struct Routing {
  RouterOutput router;
  torch::Tensor padding_mask;  // true: keep; undefined: nothing is padded // [N]
  torch::Tensor wanted_idx;    // the router's choices, empty at padding // [N, k]
  torch::Tensor kept_idx;      // those for which an expert had room // [N, k]
  int64_t experts, active;
  BalanceOptions balance;
};

/// What a feed-forward or a layer makes of its input.
struct RoutedOutput {
  torch::Tensor output;            // [B, T, D]
  std::optional<Routing> routing;  // of a mixture of experts
};

/// Figures of one Routing over its unpadded positions.
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

/// What the mixtures add to a mean loss: the mean of their auxiliary losses. Undefined where none
/// has one. // []
torch::Tensor aux_loss(const std::vector<RoutingStatistics>& mixtures);

}  // namespace ablate::models
