#pragma once

#include <torch/torch.h>

#include <memory>
#include <stdexcept>

#include "models/transformer_options.h"

namespace ablate::models {

/// A sequence is longer than the model can represent.
struct LengthError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How a stack knows positions. Every hook is the identity unless a scheme overrides it; hooks take
/// position tensors, so a cached step is an offset.
class Position : public torch::nn::Module {
 public:
  /// Vectors to add to the embeddings at `positions`; undefined where the scheme adds none.
  virtual torch::Tensor embedding(const torch::Tensor& positions);  // [T] -> [T, D]
  /// Throws LengthError, with both lengths, where a sequence of `length` has no position.
  virtual void check(int64_t length) const;
};

std::shared_ptr<Position> make_position(const PositionOptions& options, int64_t d_model);

}  // namespace ablate::models
