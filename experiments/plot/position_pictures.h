#pragma once

#include <string>

#include "models/position/position.h"

namespace ablate::experiments {

/// What to draw: positions 0 to length - 1 of a stack.
struct PositionPictures {
  int64_t length = 48;
  models::PositionContext context{
      .d_model = 64, .heads = 4, .d_k = 16, .d_v = 16, .layers = 1, .causal = false};
};

/// An HTML page of every scheme's vectors, angles and biases, drawn as a new model has them;
/// trained ones are drawn as they are initialised.
std::string position_page(const PositionPictures& options);

}  // namespace ablate::experiments
