#include "models/ops/add_norm.h"

#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"

namespace ablate::models::ops {
torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch, const LayerNorm& norm,
                       const DropoutStream& stream) {
  if constexpr (kHasKernels)
    if (norm.bias.defined() && trains_on_cpu(x) && norm.weight.scalar_type() == torch::kFloat)
      return cpu::add_norm(x, branch, norm, stream);
  const auto type = x.scalar_type();
  return torch::layer_norm(add_dropout(x, branch, stream), {norm.weight.size(0)},
                           norm.weight.to(type),
                           norm.bias.defined() ? norm.bias.to(type) : norm.bias, norm.epsilon);
}

}  // namespace ablate::models::ops
