#pragma once

#include "models/forward_context.h"
#include "models/module.h"

namespace ablate::models {

/// A place that drops elements in training. Its mask is a function of the pass's seed and of the
/// module's name, so that models share the masks of the places they share.
class DropoutImpl : public Module {
 public:
  ops::DropoutStream stream(const ForwardContext& context) const {
    return context.dropout_at(site());
  }
  torch::Tensor forward(const torch::Tensor& x, const ForwardContext& context) const {
    return ops::dropout(x, stream(context));  // [..., D] -> [..., D]
  }
};
TORCH_MODULE(Dropout);

}  // namespace ablate::models
