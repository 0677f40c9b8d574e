#pragma once

#include <stdexcept>

namespace ablate::training {

/// A number that decides something, as a loss, a gradient or a weight, is not finite.
struct Diverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ablate::training
