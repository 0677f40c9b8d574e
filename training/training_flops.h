#pragma once

#include <array>
#include <optional>

#include "models/transformer_flops.h"

namespace ablate::training {

/// Floating-point operations of the passes of an update over a batch. A backward pass takes twice
/// those of the forward pass (models/transformer_flops.h): as many for the gradients of inputs as
/// for those of weights. Frozen matrices have no gradient of their own. Layers below everything
/// that is trained have no backward pass; in the lowest layer that has one, the gradients of all
/// inputs count. Position schemes count as if they were trained. Adapters add passes of their own.
/// If rounds are drawn, they are those of the mean number of rounds. Further heads count as if all
/// their weights were trained.
class TrainingFlops {
 public:
  explicit TrainingFlops(const models::TransformerImpl& model);
  /// Those of passes that train `ahead` further heads.
  double operator()(const models::PassExtent& extent, double ahead = 0) const;

 private:
  /// Those of passes through all layers of these options.
  class OfDepth {
   public:
    OfDepth(const models::TransformerImpl& model, models::TransformerOptions options);
    double operator()(const models::PassExtent& extent) const;

   private:
    models::TransformerOptions options_;
    models::Vocabulary vocabulary_;
    std::array<int64_t, 2> lowest_;   // of each side, the lowest layer with a backward pass
    models::HeadProducts head_;       // gradients of each of these products: 0 to 2
    double source_ = 0, target_ = 0;  // multiplications that frozen matrices save at a position
  };

  models::TransformerOptions options_;
  models::Vocabulary vocabulary_;
  OfDepth most_;                   // of all layers
  std::optional<OfDepth> fewest_;  // of the shortest pass; absent: all passes are as long
};

}  // namespace ablate::training
