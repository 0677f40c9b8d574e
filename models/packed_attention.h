#pragma once

#include "models/attention.h"
#include "models/libtorch.h"

namespace ablate::models {

/// Longest sequence for which the packed kernel beats SDPA's flash path on a CPU (bench/README.md).
inline constexpr int64_t kLongestPacked = 128;

/// What decides a self-attention's scores beside queries and keys.
struct SelfScores {
  const torch::Tensor& real;  // [B, T] or undefined
  const AttentionPosition& position;
  bool causal;
};

/// softmax(q k^T / sqrt(K) + bias) v over the packed projection [q | k | v], q and k turned by
/// `position`'s rotation, without copying heads. // [B, T, H(2K+W)] -> [B, T, HW]
torch::Tensor packed_self_attention(const torch::Tensor& qkv, const SelfScores& scores,
                                    const Heads& heads);

/// The same with queries and packed [k | v] of another sequence.
/// // [B, T, HK], [B, S, H(K+W)], [B, S] -> [B, T, HW]
torch::Tensor packed_cross_attention(const torch::Tensor& query, const torch::Tensor& key_value,
                                     const torch::Tensor& real, const Heads& heads);

}  // namespace ablate::models
