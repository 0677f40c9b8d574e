#pragma once

#include "models/libtorch.h"
#include "models/linear.h"
#include "models/mixer.h"
#include "models/ops/attention.h"
#include "models/residual.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, M rows of a memory

/// Numbers and widths of heads, with the defaults of `MultiHead` filled in.
ops::Heads heads_of(const MultiHead& options, int64_t d_model);

/// What an attention's heads have beside their projections: norms of queries and keys, a factor of
/// the scores, a weighting of their own and a gate on what they give. All of it is the identity
/// unless the options say otherwise.
class HeadParts {
 public:
  /// Registers its parameters with `owner`: query_norm, key_norm, scale, sinks and gate.
  HeadParts(Module& owner, const MultiHead& options, const StackOptions& stack);

  /// Queries, keys and values beside each other, as an attention reads them. // [.., HK + GK + GW]
  torch::Tensor query_key_value(const torch::Tensor& projected);
  /// The same with queries that the factor still has to multiply.
  torch::Tensor unscaled_query_key_value(const torch::Tensor& projected);
  torch::Tensor query(const torch::Tensor& projected);      // [B, T, HK]
  torch::Tensor key_value(const torch::Tensor& projected);  // [B, S, GK + GW]
  ops::QueryFactor factor() const;
  ops::Weighting weighting() const;
  /// What the heads give, through the gates of the attention's input x. // [B, T, HW], [B, T, D]
  torch::Tensor gated(const torch::Tensor& values, const torch::Tensor& x) const;

 private:
  double root() const;                                         // sqrt(K)
  torch::Tensor normed_query(const torch::Tensor& projected);  // [B, T, HK]

  ops::Heads heads_;
  ScoreWeights weights_;
  double cap_, factor_;  // queries are multiplied by the factor, scores by 1 / sqrt(K) beside it
  Norm query_norm_{nullptr}, key_norm_{nullptr};  // [K]
  torch::Tensor scale_, sinks_;                   // [H] or undefined
  Linear gate_{nullptr};
};

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
  /// What queries read, but for padding and observation.
  ops::AttentionInput reads(const torch::Tensor& x, const ops::AttentionPosition& position);

  ops::Heads heads_;
  bool causal_;
  Linear qkv_, out_;
  HeadParts parts_;
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
  /// What queries read, but for the keys and values.
  ops::AttentionInput reads(const torch::Tensor& x, const torch::Tensor& padding_mask,
                            const Observer* observer);  // [B, T, D], [B, S]

  ops::Heads heads_;
  Linear query_, key_value_, out_;
  HeadParts parts_;
};
TORCH_MODULE(CrossAttention);

}  // namespace ablate::models
