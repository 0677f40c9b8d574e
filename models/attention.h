#pragma once

#include "models/libtorch.h"
#include "models/linear.h"
#include "models/mixer.h"
#include "models/ops/attention.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, M rows of a memory

/// Numbers and widths of heads, with the defaults of `MultiHead` filled in.
ops::Heads heads_of(const MultiHead& options, int64_t d_model);

/// Multi-head self-attention (Vaswani et al. 2017, section 3.2): queries, keys and values are one
/// product of the input.
class SelfAttention : public Mixer {
 public:
  SelfAttention(const MultiHead& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                        const ops::AttentionPosition& position, const Observer* observer) override;
  KVCache empty_cache(const torch::Tensor& like) const override;
  torch::Tensor step(const torch::Tensor& x, KVCache& cache,
                     const ops::AttentionPosition& position) override;

 private:
  ops::Heads heads_;
  double query_scale_;
  bool causal_;
  Linear qkv_, out_;
};

/// Multi-head attention over the encoder's output, whose keys and values are projected once.
class CrossAttentionImpl : public Module {
 public:
  CrossAttentionImpl(const MultiHead& options, const StackOptions& stack);

  /// [B, T, D], [B, S, D], [B, S] -> [B, T, D]
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& memory,
                        const torch::Tensor& padding_mask, const Observer* observer);
  KVCache project(const torch::Tensor& memory);  // [M, S, D]
  /// [B, T, D], a memory of M rows and its mask [M, S] -> [B, T, D]
  torch::Tensor step(const torch::Tensor& x, KVCache& memory, const torch::Tensor& padding_mask,
                     const Observer* observer);

 private:
  ops::Heads heads_;
  double query_scale_;
  Linear query_, key_value_, out_;
};
TORCH_MODULE(CrossAttention);

}  // namespace ablate::models
