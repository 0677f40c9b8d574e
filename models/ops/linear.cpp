#include "models/ops/linear.h"

#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"

namespace ablate::models::ops {
namespace {

std::shared_ptr<const PackedMatrix> pack(const torch::Tensor& weight, WeightDtype dtype) {
  if constexpr (kHasKernels) return cpu::pack(weight, dtype);
  return round(weight, dtype);
}

}  // namespace

LinearWeight LinearWeight::prepacked(WeightDtype dtype) const {
  return {.dense = dense, .packed = pack(dense, dtype)};
}

torch::Tensor linear(const torch::Tensor& x, const LinearWeight& weight,
                     const torch::Tensor& bias) {
  if (weight.packed && infers_on_cpu(x)) return weight.packed->multiply(x.contiguous(), bias);
  const auto type = x.scalar_type();
  return torch::linear(x, weight.dense.to(type), bias.defined() ? bias.to(type) : bias);
}

}  // namespace ablate::models::ops
