#pragma once

#include "models/position/position.h"

namespace ablate::models {

// L layers; parameters of all layers are one tensor, whose first dimension is the layer

/// e_ij = q_i . (k_j + a_c) / sqrt(K), z_i = sum_j p_ij (v_j + b_c), c the distance clipped to
/// max_distance either way; each layer has its own vectors, shared by its heads.
class ShawPosition : public Position {
 public:
  ShawPosition(const Shaw& options, const PositionContext& context);
  bool attends() const override { return true; }
  torch::Tensor attend(const ops::ContentAttention& attention) override;

 private:
  int64_t max_distance_;
  torch::Tensor keys_;    // [L, 2 max_distance + 1, K]
  torch::Tensor values_;  // [L, 2 max_distance + 1, W] or undefined
};

/// e_ij = ((q_i + u) . k_j + (q_i + v) . W r_(i-j)) / sqrt(K), r sinusoidal vectors of distances,
/// in halves as in the authors' code; u, v and W belong to each layer. Another scale takes the
/// place of 1 / sqrt(K) for all four products.
class TransformerXlPosition : public Position {
 public:
  TransformerXlPosition(const TransformerXl& options, const PositionContext& context);
  bool attends() const override { return true; }
  torch::Tensor attend(const ops::ContentAttention& attention) override;

 private:
  int64_t id_range_;  // see PositionContext
  Frequencies frequencies_;
  torch::Tensor content_bias_, distance_bias_;  // u, v // [L, H, K]
  torch::Tensor projection_;                    // W // [L, H, K, D]
};

/// A key's position is the sum of the gates sigmoid(q_i . k_t / sqrt(K)) between query and key,
/// both included; scores gain q_i . e at that position, interpolated between whole ones. Another
/// scale than 1 / sqrt(K) changes only q_i . k_t; q_i . e has none, but a parametrization by width
/// divides it by the growth of a head's width. An encoder counts from the query in both directions.
class CopePosition : public Position {
 public:
  CopePosition(const Cope& options, const PositionContext& context);
  bool attends() const override { return true; }
  torch::Tensor attend(const ops::ContentAttention& attention) override;

 private:
  double narrowing_;     // base width of a head over its width
  torch::Tensor table_;  // [L, K, positions]
};

/// e_ij = sum over c of softplus(q_ic) softplus(k_jc) cos((i - j) w_c - d_c) / sqrt(K), with w_c =
/// base^(-c / K) and a learned d of each layer and head.
class PopePosition : public Position {
 public:
  PopePosition(const Pope& options, const PositionContext& context);
  bool attends() const override { return true; }
  torch::Tensor attend(const ops::ContentAttention& attention) override;

 private:
  double base_;
  torch::Tensor shifts_;  // d // [L, H, K]
};

}  // namespace ablate::models
