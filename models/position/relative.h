#pragma once

#include "models/position/position.h"

namespace ablate::models {

/// A scheme that adds a number to every score which depends on the distance and the head.
class AlibiPosition : public Position {
 public:
  AlibiPosition(const Alibi& options, const PositionContext& context);
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override;

 private:
  bool two_sided_;
  torch::Tensor slopes_;  // [H]
};

class T5Position : public Position {
 public:
  T5Position(const T5Bias& options, const PositionContext& context);
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override;

 private:
  T5Bias options_;
  bool causal_;
  torch::Tensor table_;  // [buckets, H]
};

/// b = f(psi(distance) / psi(max(query, L))), psi(x) = ln(c x + 1), f a network of one hidden
/// layer; c and L are trained. Distances count without their sign, so an encoder learns no
/// direction.
class FirePosition : public Position {
 public:
  FirePosition(const Fire& options, const PositionContext& context);
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override;

 private:
  torch::Tensor c_, length_;        // []
  torch::Tensor up_, up_bias_;      // [hidden, 1], [hidden]
  torch::Tensor down_, down_bias_;  // [H, hidden], [H]
};

class KerplePosition : public Position {
 public:
  KerplePosition(const Kerple& options, const PositionContext& context);
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override;

 private:
  KerpleKernel kernel_;
  torch::Tensor amount_, shape_;  // softplus of the first is a, of the second b // [H]
};

class SandwichPosition : public Position {
 public:
  SandwichPosition(const Sandwich& options, const PositionContext& context);
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override;

 private:
  int64_t width_;
  torch::Tensor slopes_;  // [H]
};

}  // namespace ablate::models
