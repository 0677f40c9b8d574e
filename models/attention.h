#pragma once

#include "models/attention_heads.h"
#include "models/libtorch.h"
#include "models/linear.h"
#include "models/mixer.h"
#include "models/ops/attention.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, M rows of a memory

struct StackOutput;

/// Multi-head self-attention (Vaswani et al. 2017, section 3.2): queries, keys and values are one
/// product of the input.
class SelfAttention : public ScoredMixer {
 public:
  SelfAttention(const MultiHead& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                        const ops::AttentionPosition& position, const Observer* observer) override;
  KVCache empty_cache(const torch::Tensor& like) const override;
  torch::Tensor step(const torch::Tensor& x, KVCache& cache,
                     const ops::AttentionPosition& position) override;
  void clip_scores(const torch::Tensor& largest, double most) override;

 private:
  /// The input of the operation without padding mask and observation; `cache` as in
  /// Mixer::convolved.
  ops::AttentionInput reads(const torch::Tensor& x, KVCache* cache,
                            const ops::AttentionPosition& position);

  ops::Heads heads_;
  bool causal_;
  Linear qkv_, out_;
  HeadOptionsModule head_options_;
};

/// Multi-head attention over the encoder's output, whose keys and values are projected once.
class CrossAttentionImpl : public Module {
 public:
  CrossAttentionImpl(const MultiHead& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x, const StackOutput& memory,
                        const Observer* observer);  // [B, T, D], memory [B, S, D] -> [B, T, D]
  KVCache project(const torch::Tensor& memory);     // [M, S, D]
  /// [B, T, D], a memory of M rows and its mask [M, S] -> [B, T, D]
  torch::Tensor step(const torch::Tensor& x, KVCache& memory, const torch::Tensor& padding_mask,
                     const Observer* observer);

 private:
  /// The input of the operation without keys and values.
  ops::AttentionInput reads(const torch::Tensor& x, const torch::Tensor& padding_mask,
                            const Observer* observer);  // [B, T, D], [B, S]

  ops::Heads heads_;
  Linear query_, key_value_, out_;
  HeadOptionsModule head_options_;
};
TORCH_MODULE(CrossAttention);

}  // namespace ablate::models
