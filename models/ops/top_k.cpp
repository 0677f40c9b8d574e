#include "models/ops/top_k.h"

#include <torch/csrc/jit/frontend/tracer.h>

#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"
#include "models/ops/elementwise.h"

namespace ablate::models::ops {
namespace {

/// For more choices a sort is faster than picking one by one.
constexpr int64_t kMostPicked = 8;

}  // namespace

SoftmaxTopK softmax_top_k(const torch::Tensor& scores, int64_t k) {
  if constexpr (kHasKernels)
    if (k <= kMostPicked && infers_on_cpu(scores))
      return cpu::softmax_top_k(scores.contiguous(), k);
  const auto probabilities = scores.softmax(-1);
  const auto [values, indices] = probabilities.topk(k, -1);
  return {.probabilities = probabilities, .top = {.values = values, .indices = indices}};
}

TopK top_k(const torch::Tensor& scores, int64_t k) {
  const auto [values, indices] = scores.topk(k, -1);
  const auto both = torch::stack({values.to(torch::kDouble), indices.to(torch::kDouble)}).cpu();
  return {.values = both[0], .indices = both[1].to(torch::kLong)};
}

TopK log_softmax_top_k(const torch::Tensor& logits, int64_t k) {
  if constexpr (kHasKernels)
    if (infers_on_cpu(logits)) return cpu::log_softmax_top_k(logits.contiguous(), k);
  return top_k(torch::log_softmax(logits, -1, wide_type(logits)), k);
}

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
