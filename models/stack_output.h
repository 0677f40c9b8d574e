#pragma once

#include <memory>
#include <vector>

#include "models/feed_forward/router.h"
#include "models/libtorch.h"

namespace ablate::models {

/// The output of a stack; that of the encoder is the memory that the decoder attends to.
struct StackOutput {
  torch::Tensor output;                   // [B, T, D]
  std::vector<torch::Tensor> ahead = {};  // of the further heads that run // [B, T, D] each
  torch::Tensor padding_mask;             // true: keep // [B, T]
  std::vector<Routing> routings;          // of every mixture of experts, in the order of the layers
  /// For those that attend to it: see ops::AttentionPosition.
  std::shared_ptr<torch::Tensor> kept_mask = std::make_shared<torch::Tensor>();
};

}  // namespace ablate::models
