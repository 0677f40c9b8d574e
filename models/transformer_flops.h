#pragma once

#include <array>
#include <map>
#include <optional>

#include "models/ops/products.h"
#include "models/transformer.h"

namespace ablate::models {

/// The extent of the padded ids that a pass reads. A model of one side reads only its own.
struct PassExtent {
  int64_t rows = 0, source = 0, target = 0;
};

/// A model of the same shapes and the same frozen weights as another one, on LibTorch's meta
/// device, where a pass takes no time but that of its calls.
class ShapeModel {
 public:
  /// Of a model that runs through the layers that these options give it.
  ShapeModel(const TransformerImpl& model, const TransformerOptions& options);
  /// The products of a pass in training with `ahead` further heads; absent: of one that evaluates,
  /// which draws no noise for routers. Every pair of lengths runs once.
  ops::Products products(const PassExtent& extent, std::optional<int64_t> ahead);

 private:
  /// Products that a batch has once, and those of each row.
  struct Cost {
    ops::Products once, row;
  };
  ops::Products run(const PassExtent& extent, std::optional<int64_t> ahead);
  Cost cost_of(const PassExtent& extent, std::optional<int64_t> ahead);

  Transformer model_{nullptr};
  std::optional<bool> has_common_;  // products that a batch has once; absent: no pass has run
  std::map<std::array<int64_t, 3>, Cost> known_;
};

/// Floating-point operations of the matrix products of passes: two for each multiplication, at
/// every position that is computed, padding and positions without a prediction included. Attention
/// counts the keys in a query's window, also those that causality hides; a mixture the experts that
/// its router chooses. Norms, activations, sums and lookups are left out.
class PassFlops {
 public:
  /// Of a model as it is: with its adapters, and without the gradients of frozen weights.
  explicit PassFlops(const TransformerImpl& model);
  /// Those of a pass through all layers that evaluates.
  double forward(const PassExtent& extent);
  /// The same of a pass in training, which may be longer than positions are for evaluation.
  double forward_in_training(const PassExtent& extent);
  /// Those of the passes of an update over a batch that trains `ahead` further heads. The backward
  /// pass takes as many as a product for each of its two operands that has a gradient. If rounds
  /// are drawn, they are those of the mean number of rounds.
  double training(const PassExtent& extent, int64_t ahead = 0);

 private:
  ShapeModel most_;                   // through all layers
  std::optional<ShapeModel> fewest_;  // through those of the shortest pass; absent: all are as long
};

}  // namespace ablate::models
