#pragma once

#include "models/attention/stages.h"
#include "models/libtorch.h"
#include "models/linear.h"
#include "models/mixer.h"
#include "models/ops/attention.h"
#include "models/stack_output.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, M rows of a memory

/// Multi-head self-attention (Vaswani et al. 2017, section 3.2): queries, keys and values are one
/// product of the input; every head reads values by its scores, and a product joins the heads. The
/// additions that the options ask for are its stages.
class SelfAttention : public ScoredMixer {
 public:
  SelfAttention(const MultiHead& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x, const ops::AttentionPosition& position,
                        const ForwardContext& context) override;
  KVCache empty_cache(const torch::Tensor& like) const override;
  torch::Tensor step(const torch::Tensor& x, KVCache& cache, const ops::AttentionPosition& position,
                     const ForwardContext& context) override;
  void clip_scores(const torch::Tensor& largest, double most) override;

 private:
  Projections projected(const StagePass& pass);
  /// The input of the operation without padding mask and observation.
  ops::AttentionInput scored(const Projections& own, const StagePass& pass) const;

  int64_t count_;  // H
  Heads heads_;
  bool causal_;
  double dropout_;  // of weights
  Linear qkv_, out_;
  Stages stages_;
};

/// Multi-head attention over the encoder's output, whose keys and values are projected once.
class CrossAttentionImpl : public Module {
 public:
  CrossAttentionImpl(const MultiHead& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x, const StackOutput& memory,
                        const ForwardContext& context);  // [B, T, D], memory [B, S, D] -> [B, T, D]
  KVCache project(const torch::Tensor& memory);          // [M, S, D]
  /// [B, T, D], a memory of M rows and its mask [M, S] -> [B, T, D]
  torch::Tensor step(const torch::Tensor& x, KVCache& memory, const torch::Tensor& padding_mask,
                     const ForwardContext& context);

 private:
  Projections queries(const StagePass& pass);
  torch::Tensor keys_and_values(const torch::Tensor& memory);  // [M, S, D] -> [M, S, GK + GW]
  /// The input of the operation without keys and values.
  ops::AttentionInput scored(const Projections& own, const torch::Tensor& padding_mask,
                             const ForwardContext& context) const;

  int64_t count_;  // H
  Heads heads_;
  double dropout_;  // of weights
  Linear query_, key_value_, out_;
  Stages stages_;
};
TORCH_MODULE(CrossAttention);

}  // namespace ablate::models
