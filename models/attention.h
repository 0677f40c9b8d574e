#pragma once

#include "models/libtorch.h"
#include "models/linear.h"
#include "models/mixer.h"
#include "models/ops/attention.h"
#include "models/residual.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, M rows of a memory

struct StackOutput;

/// Numbers and widths of heads, with the defaults of `MultiHead` filled in.
ops::Heads heads_of(const MultiHead& options, int64_t d_model);

/// The optional parts of attention heads: QK norm, score scale, score function, soft-capping,
/// sinks, the output gate and the value residual. By default all of them are the identity.
class HeadOptionsModule {
 public:
  /// Registers its parameters with `owner`: query_norm, key_norm, scale, sinks, value_residual
  /// and gate.
  HeadOptionsModule(Module& owner, const MultiHead& options, const StackOptions& stack);

  /// Queries, keys and values side by side, as an attention reads them. // [.., HK + GK + GW]
  torch::Tensor query_key_value(const torch::Tensor& projected);
  /// The same with queries that are not yet multiplied by the factor.
  torch::Tensor unscaled_query_key_value(const torch::Tensor& projected);
  torch::Tensor query(const torch::Tensor& projected);      // [B, T, HK]
  torch::Tensor key_value(const torch::Tensor& projected);  // [B, S, GK + GW]
  ops::QueryFactor factor() const;
  ops::Weighting weighting() const;
  /// A projected input with values that are mixed with the first ones of this pass.
  torch::Tensor mixed_values(const torch::Tensor& projected,
                             const ops::AttentionPosition& position) const;
  /// The heads' outputs without their components along the values of the queries' own positions,
  /// which stand last in `own`. // [B, T, HW], [B, T, HK + GK + GW] -> [B, T, HW]
  torch::Tensor exclusive(const torch::Tensor& values, const torch::Tensor& own) const;
  /// The heads' outputs times the gates of the attention's input x. // [B, T, HW], [B, T, D]
  torch::Tensor gated(const torch::Tensor& values, const torch::Tensor& x) const;

 private:
  double root() const;                                         // sqrt(K)
  torch::Tensor normed_query(const torch::Tensor& projected);  // [B, T, HK]

  ops::Heads heads_;
  ScoreFunction score_function_;
  double softcap_, factor_;  // the factor of queries; scores are also multiplied by 1 / sqrt(K)
  Norm query_norm_{nullptr}, key_norm_{nullptr};  // [K]
  torch::Tensor scale_, sinks_;                   // [H] or undefined
  bool mixes_values_, exclusive_;
  torch::Tensor value_factors_;  // of a layer's own and of the first values; undefined: 1/2 // [2]
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
