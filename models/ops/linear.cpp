#include "models/ops/linear.h"

#include "models/ops/backend.h"
#include "models/ops/cpu/packed_matrix.h"

namespace ablate::models::ops {

LinearWeight LinearWeight::prepacked(WeightDtype dtype) const {
  return {.dense = dense,
          .packed = cpu::pack(dense, dtype),
          .version = static_cast<uint32_t>(dense._version())};
}

torch::Tensor linear(const torch::Tensor& x, const LinearWeight& weight,
                     const torch::Tensor& bias) {
  if (weight.packed && infers_on_cpu(x)) {
    TORCH_CHECK(static_cast<uint32_t>(weight.dense._version()) == weight.version,
                "a weight has changed since it was packed for decoding; pack it again");
    return weight.packed->multiply(x.contiguous(), bias);
  }
  const auto type = x.scalar_type();
  return torch::linear(x, weight.dense.to(type), bias.defined() ? bias.to(type) : bias);
}

}  // namespace ablate::models::ops
