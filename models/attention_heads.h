#pragma once

#include "models/libtorch.h"
#include "models/linear.h"
#include "models/ops/attention.h"
#include "models/residual.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, H heads, M attention maps, G key and value heads,
// K and W widths of keys and values

/// Numbers and widths of the heads that are projected, with the defaults of `MultiHead` filled in.
/// Each query of a differential head is one for the operations.
ops::Heads heads_of(const MultiHead& options, int64_t d_model);

/// The same for the operations: forgetting lengthens queries and keys by the sums of its gates'
/// logarithms.
ops::Heads scored_heads_of(const MultiHead& options, int64_t d_model);

/// The factor of queries: not 1 if the scale differs from 1 / sqrt(d_k), or if the parametrization
/// changes the size of scores.
double query_factor_of(const MultiHead& options, const StackOptions& stack);

/// The optional parts of attention heads: QK norm, score scale, score function, soft-capping,
/// sinks, the output gate, the value residual, value embeddings, differences of maps and
/// forgetting. By default all of them are the identity.
class HeadOptionsModule {
 public:
  /// Registers its parameters with `owner`: query_norm, key_norm, scale, sinks, value_residual,
  /// value_embedding, value_gate, gate, lambda and forget.
  HeadOptionsModule(Module& owner, const MultiHead& options, const StackOptions& stack);

  /// Queries, keys and values side by side, as an attention reads them. // [.., HK + GK + GW]
  torch::Tensor query_key_value(const torch::Tensor& projected);
  /// The same with queries that are not yet multiplied by the factor.
  torch::Tensor unscaled_query_key_value(const torch::Tensor& projected);
  torch::Tensor query(const torch::Tensor& projected);      // [B, T, HK]
  torch::Tensor key_value(const torch::Tensor& projected);  // [B, S, GK + GW]
  /// Projected queries, keys and values. With forgetting, queries and keys get the sums of its
  /// gates' logarithms, whose differences the products add to the scores. Sums go on from `cache`
  /// unless it is null. // [B, T, MK + GK + GW], [B, T, D] -> [B, T, M(K + 4) + G(K + 4) + GW]
  torch::Tensor forgetful(const torch::Tensor& projected, const torch::Tensor& x,
                          KVCache* cache) const;
  /// Those sums for sequences without positions yet; undefined: there is no forgetting.
  /// // [B, T, D] -> [B, G]
  torch::Tensor first_sums(const torch::Tensor& like) const;
  int64_t count() const { return count_; }  // H
  ops::QueryFactor factor() const;
  ops::Weighting weighting() const;
  /// The attention's input x, projected, with values that are mixed with the first ones of this
  /// pass and with those of their tokens. // [B, T, HK + GK + GW], [B, T, D]
  torch::Tensor mixed_values(const torch::Tensor& projected, const torch::Tensor& x,
                             const ops::AttentionPosition& position) const;
  /// The outputs of the heads from those of their maps; x is the attention's input.
  /// // [B, T, MW], [B, T, D] -> [B, T, HW]
  torch::Tensor of_heads(const torch::Tensor& read, const torch::Tensor& x) const;
  /// The heads' outputs without their components along the values of the queries' own positions,
  /// which stand last in `own`. // [B, T, HW], [B, T, HK + GK + GW] -> [B, T, HW]
  torch::Tensor exclusive(const torch::Tensor& values, const torch::Tensor& own) const;
  /// The heads' outputs times the gates of the attention's input x. // [B, T, HW], [B, T, D]
  torch::Tensor gated(const torch::Tensor& values, const torch::Tensor& x) const;

 private:
  /// A layer's values mixed with the first ones of this pass. // [B, T, GW]
  torch::Tensor with_first(const torch::Tensor& own, torch::Tensor& first) const;
  double root() const;                                         // sqrt(K)
  torch::Tensor normed_query(const torch::Tensor& projected);  // [B, T, HK]

  int64_t count_;     // heads, H
  ops::Heads heads_;  // maps, M
  ScoreFunction score_function_;
  double softcap_, factor_;  // the factor of queries; scores are also multiplied by 1 / sqrt(K)
  Norm query_norm_{nullptr}, key_norm_{nullptr};  // [K]
  torch::Tensor scale_, sinks_;                   // [M] or undefined
  bool mixes_values_, exclusive_;
  torch::Tensor value_factors_;  // of a layer's own and of the first values; undefined: 1/2 // [2]
  torch::Tensor value_embedding_;  // undefined without the option // [tokens, GW]
  Linear gate_{nullptr}, lambda_{nullptr}, forget_{nullptr}, value_gate_{nullptr};
};

}  // namespace ablate::models
