#pragma once

#include <ATen/Parallel.h>

#include "models/kernel/bfloat16.h"
#include "models/libtorch.h"
#include "models/ops/attention.h"
#include "models/ops/elementwise.h"
#include "models/ops/expert_feed_forward.h"
#include "models/ops/linear_cross_entropy.h"
#include "models/ops/top_k.h"

/// The operations that CPU kernels compute; left out of a build without kernels. Shapes are those
/// of the operations.

namespace ablate::models::ops::cpu {

/// ops::add_norm in one pass over memory. REQUIRES: a bias; a norm in float.
torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch, const LayerNorm& norm,
                       const DropoutStream& stream);

/// x with the mask's elements dropped. REQUIRES: contiguous, float or bfloat16. // [..., D]
torch::Tensor drop_rows(const torch::Tensor& x, const DropoutMask& mask);

/// Turns logits [N, V], float or bfloat16, into the gradient of their summed cross-entropy, in
/// place, and writes each row's loss and nll. // target [N], losses [2, N]
void cross_entropy_gradient(const torch::Tensor& logits, const torch::Tensor& target,
                            const CrossEntropyOptions& options, const torch::Tensor& losses);

/// Whether `packed_attention` can take this, with keys of every head's own, and is faster than
/// SDPA.
bool serves_packed(const AttentionInput& input);
/// Attention that reads heads in the layout of the projections and keeps its probabilities for the
/// gradient. The output of a query that may attend to no key is zero. REQUIRES:
/// serves_packed(input) // [B, T, HW]
torch::Tensor packed_attention(const AttentionInput& input);

/// Whether `single_query_attention` can take this.
bool serves_single_query(const AttentionInput& input);
/// Attention of one query per sequence over the positions of `cache`, without copying them. The
/// output of a query that may attend to no key is zero. // [B, H, 1, K] -> [B, 1, HW]
torch::Tensor single_query_attention(const torch::Tensor& query, const KVCache& cache,
                                     const AttentionInput& input);

/// The matrix in the panels that the kernels read; on processors without AVX2, for which LibTorch's
/// products are faster, as `round` returns it. // [N, K]
std::shared_ptr<const PackedMatrix> pack(const torch::Tensor& weight, WeightDtype dtype);

/// Model widths that `mix_experts` takes are multiples of this.
inline constexpr int64_t kMixWidth = 16;
/// The first matrices of experts with F = `d_hidden` neurons in the fastest layout for
/// `mix_experts`; undefined if F does not allow it. // [E, F, D], gated [E, 2F, D]
torch::Tensor pack_experts(const torch::Tensor& up, int64_t d_hidden);
/// ops::expert_feed_forward of contiguous float x, without a gradient and without sorting.
torch::Tensor mix_experts(const torch::Tensor& x, const Experts& experts,
                          const ExpertChoice& choice);

/// The operations of ops/top_k.h on contiguous float rows, in one pass over each; of equal scores
/// the first comes first.
SoftmaxTopK softmax_top_k(const torch::Tensor& scores, int64_t k);
TopK log_softmax_top_k(const torch::Tensor& logits, int64_t k);

/// Storage of a contiguous or row-strided tensor as the kernels name its element type.
template <class T>
T* pointer(const torch::Tensor& x) {
  return static_cast<T*>(x.data_ptr());
}

/// Calls `body` with a value of the kernel's element type for `type`: float or bfloat16.
template <class Body>
void with_type(torch::ScalarType type, Body&& body) {
  if (type == torch::kFloat) return body(float{});
  if (type == torch::kBFloat16) return body(kernel::Bfloat16{});
  TORCH_CHECK(false, "no CPU kernel for ", type);
}

/// Rows per task: every task has some tens of thousands of elements to work on.
inline int64_t grain(int64_t width) {
  return std::max<int64_t>(1, 32'768 / std::max<int64_t>(1, width));
}

}  // namespace ablate::models::ops::cpu
