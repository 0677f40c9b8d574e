#pragma once

#include <torch/torch.h>

#include "models/linear.h"
#include "models/position/position.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, H heads, K head width of keys, W head width of values

/// Heads and their widths, with the defaults of `AttentionOptions` filled in.
struct Heads {
  Heads(const AttentionOptions& options, int64_t d_model);
  int64_t count, d_k, d_v;
};

/// Keys and values of one attention. // key [B, H, S, K], value [B, H, S, W]
struct KeyValue {
  torch::Tensor key, value;
};

/// Multi-head self-attention (Vaswani et al. 2017, section 3.2): queries, keys and values are one
/// product of the input.
class SelfAttentionImpl : public torch::nn::Module {
 public:
  SelfAttentionImpl(const AttentionOptions& options, int64_t d_model);

  /// `real` [B, T] is false at padding, or undefined where nothing is padded; `causal` hides later
  /// positions. // [B, T, D] -> [B, T, D]
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& real,
                        const AttentionPosition& position, bool causal);

  /// Continues a sequence whose earlier keys and values are `past`, and adds the new ones to it.
  torch::Tensor step(const torch::Tensor& x, KeyValue& past,
                     const AttentionPosition& position);  // [B, 1, D] -> [B, 1, D]

  /// A past without any position. // key [B, H, 0, K], value [B, H, 0, W]
  KeyValue nothing(const torch::Tensor& like) const;

 private:
  Heads heads_;
  Linear qkv_, out_;
};
TORCH_MODULE(SelfAttention);

/// Multi-head attention over the encoder's output, whose keys and values are projected once.
class CrossAttentionImpl : public torch::nn::Module {
 public:
  CrossAttentionImpl(const AttentionOptions& options, int64_t d_model);

  /// [B, T, D], [B, S, D], [B, S] -> [B, T, D]
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& memory,
                        const torch::Tensor& real);
  KeyValue project(const torch::Tensor& memory);  // [B, S, D]
  torch::Tensor step(const torch::Tensor& x, const KeyValue& memory, const torch::Tensor& real);

 private:
  Heads heads_;
  Linear query_, key_value_, out_;
};
TORCH_MODULE(CrossAttention);

}  // namespace ablate::models
