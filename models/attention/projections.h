#pragma once

#include <vector>

#include "models/libtorch.h"
#include "models/ops/attention.h"

namespace ablate::models {

/// Queries, keys and values of an attention: side by side, as a projection returns them, until
/// somebody asks for one of them by head.
class Projections {
 public:
  /// The parts of one projection's output. // [B, T, MK + GK + GW], or fewer columns
  enum class Parts { all, queries, keys_and_values };

  Projections(torch::Tensor packed, const ops::Heads& heads, Parts parts = Parts::all)
      : packed_(std::move(packed)), heads_(heads), parts_(parts) {}

  // By head, to read and to replace; null: they are not among the parts.
  torch::Tensor* query() { return by_head(0); }  // [B, T, M, K]
  torch::Tensor* key() { return by_head(1); }    // [B, T, G, K]
  torch::Tensor* value() { return by_head(2); }  // [B, T, G, W]

  /// Side by side, as they are now.
  torch::Tensor packed() const;
  /// The heads, with the widths that queries and keys have now.
  ops::Heads heads() const;

 private:
  torch::Tensor* by_head(size_t which);

  torch::Tensor packed_;
  ops::Heads heads_;
  Parts parts_;
  std::vector<torch::Tensor> by_head_;  // of the parts; empty: nobody has asked yet
};

}  // namespace ablate::models
