#pragma once

#include <vector>

#include "models/dropout.h"
#include "models/libtorch.h"

namespace ablate::models {

// N positions of a batch, E experts, k experts a position uses

/// Where one mixture sent the positions of one pass, and what that adds to the loss. Padding counts
/// nowhere.
struct Routing {
  torch::Tensor penalty;  // of the losses below, times their factors; undefined: none // []
  torch::Tensor load;  // E / (N k) sum_e count_e mean_p_e, 1 at balance; undefined: no scores // []
  torch::Tensor z;     // mean of log-sum-exp of the scores, squared; undefined: no scores // []
  torch::Tensor counts;   // positions sent to each expert // [E]
  torch::Tensor entropy;  // of a position's probabilities, mean, in nats // []
  torch::Tensor dropped;  // share of the choices for which an expert had no room // []
};

/// What a pass leaves beside its output, for callers that want to see it.
struct Recorded {
  std::vector<Routing> routings;  // one of every mixture, in the order of the layers
  bool inputs_wanted = false;
  std::vector<torch::Tensor> inputs;  // real positions before every dense feed-forward // [N, D]
  bool attentions_wanted = false;
  /// Probabilities of every attention in the order of the layers, a layer's own before that over
  /// the memory. // [B, H, T, S]
  std::vector<torch::Tensor> attentions;

  /// Whether attentions go to `recorded`.
  static bool wants_attentions(const Recorded* recorded) {
    return recorded != nullptr && recorded->attentions_wanted;
  }
};

/// What the sub-layers of one pass need beside their input.
struct Pass {
  Dropout& dropout;
  torch::Tensor real;            // false at padding; undefined: nothing is padded // [B, T]
  torch::Tensor ids;             // of the pieces // [B, T]
  Recorded* recorded = nullptr;  // null: nothing is recorded
};

}  // namespace ablate::models
