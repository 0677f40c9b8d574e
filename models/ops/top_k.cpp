#include "models/ops/top_k.h"

#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"

namespace ablate::models::ops {
namespace {

/// Of more choices a sort is faster than picking one by one.
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

TopK log_softmax_top_k(const torch::Tensor& logits, int64_t k) {
  if constexpr (kHasKernels)
    if (infers_on_cpu(logits)) return cpu::log_softmax_top_k(logits.contiguous(), k);
  const auto wide = logits.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  const auto [values, indices] = torch::log_softmax(logits, -1, wide).topk(k, -1);
  return {.values = values.to(torch::kDouble).cpu(), .indices = indices.cpu()};
}

}  // namespace ablate::models::ops
