#pragma once

#include "models/forward_context.h"
#include "models/module.h"
#include "models/position/position_ids_options.h"

namespace ablate::models {

/// The ids by which a position scheme knows the tokens of a sequence.
class PositionIds : public Module {
 public:
  explicit PositionIds(const PositionIdsOptions& options);

  /// Ids of the tokens with indices 0, 1, 2, ...; increasing. A training pass draws them from its
  /// own stream of random numbers, where they are drawn at all. // [T] -> [T]
  torch::Tensor operator()(const torch::Tensor& indices, const ForwardContext& context) const;
  /// Throws LengthError, with both lengths, where there are fewer than `length` ids.
  void check(int64_t length, const ForwardContext& context) const;

 private:
  int64_t range_ = 0;     // 0: indices are ids
  torch::Tensor chosen_;  // of evaluation // [longest]
};

}  // namespace ablate::models
