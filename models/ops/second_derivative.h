#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

/// Called at the start of a backward pass that is not itself differentiable: throws where its
/// gradient is to be recorded (create_graph), instead of treating it as a constant.
inline void refuse_second_derivative(const char* operation) {
  TORCH_CHECK(!torch::GradMode::is_enabled(), operation,
              " has no second derivative: its backward pass cannot be differentiated. Leave "
              "create_graph off.");
}

}  // namespace ablate::models::ops
