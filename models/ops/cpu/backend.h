#pragma once

#include "models/ops/add_norm.h"
#include "models/ops/attention.h"
#include "models/ops/expert_feed_forward.h"
#include "models/ops/top_k.h"

/// What the CPU kernels serve of the operations; left out of a build without kernels. Shapes are
/// those of the operations.
namespace ablate::models::ops::cpu {

/// ops::add_norm in one pass over memory. REQUIRES: a bias; a norm in float.
torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch, const LayerNorm& norm,
                       const DropoutStream& stream);

/// x with the mask's elements dropped. REQUIRES: contiguous, float or bfloat16. // [..., D]
torch::Tensor drop_rows(const torch::Tensor& x, const DropoutMask& mask);

/// Turns logits [N, V], float or bfloat16, into the gradient of their summed label-smoothed
/// cross-entropy, in place, and writes each row's loss and nll. // target [N], losses [2, N]
void cross_entropy_gradient(const torch::Tensor& logits, const torch::Tensor& target,
                            double smoothing, const torch::Tensor& losses);

/// Whether `packed_attention` can take this, and is faster than SDPA.
bool serves_packed(const AttentionInput& input);
/// Attention that reads heads where the projections left them and keeps its probabilities for the
/// gradient. A query that may attend to no key gives zeros. REQUIRES: serves_packed(input)
/// // [B, T, HW]
torch::Tensor packed_attention(const AttentionInput& input);

/// Whether `single_query_attention` can take this.
bool serves_single_query(const AttentionInput& input);
/// Attention of one query for each sequence over the positions of `cache`, of which nothing is
/// copied. A query that may attend to no key gives zeros. // [B, H, 1, K] -> [B, 1, HW]
torch::Tensor single_query_attention(const torch::Tensor& query, const KVCache& cache,
                                     const AttentionInput& input);

/// The matrix in the panels that the kernels read; as `round` has it where LibTorch's products are
/// faster, which are those for processors without AVX2. // [N, K]
std::shared_ptr<const PackedMatrix> pack(const torch::Tensor& weight, WeightDtype dtype);

/// Model widths that `mix_experts` takes are multiples of this.
inline constexpr int64_t kMixWidth = 16;
/// The first matrices as `mix_experts` reads them fastest; undefined where F does not allow it.
torch::Tensor pack_experts(const torch::Tensor& up);  // [E, F, D]
/// ops::expert_feed_forward of contiguous float x, without a gradient and without sorting.
torch::Tensor mix_experts(const torch::Tensor& x, const Experts& experts,
                          const ExpertChoice& choice);

/// The operations of ops/top_k.h on contiguous float rows, in one pass over each; of equal scores
/// the first comes first.
SoftmaxTopK softmax_top_k(const torch::Tensor& scores, int64_t k);
TopK log_softmax_top_k(const torch::Tensor& logits, int64_t k);

}  // namespace ablate::models::ops::cpu
