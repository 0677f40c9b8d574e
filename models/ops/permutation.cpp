#include "models/ops/permutation.h"

#include <torch/csrc/jit/frontend/tracer.h>

namespace ablate::models::ops {

torch::Tensor indices_of(const torch::Tensor& x) {
  if (!torch::jit::tracer::isTracing())
    return torch::arange(x.size(0), x.options().dtype(torch::kLong));
  return torch::ones_like(x, torch::kLong).cumsum(0) - 1;
}

torch::Tensor indices_behind(const torch::Tensor& past, const torch::Tensor& x) {
  if (!torch::jit::tracer::isTracing())
    return torch::arange(past.size(0), past.size(0) + x.size(0), x.options().dtype(torch::kLong));
  return torch::ones_like(past).sum() + indices_of(x);
}

torch::Tensor inverse_permutation(const torch::Tensor& order) {
  return torch::empty_like(order).index_copy(0, order, indices_of(order));
}

torch::Tensor bin_counts(const torch::Tensor& x, int64_t count) {
  return torch::zeros({count}, x.options()).index_add(0, x, torch::ones_like(x));
}

}  // namespace ablate::models::ops
