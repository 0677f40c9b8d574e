#pragma once

#include <stdexcept>

namespace ablate::training {

/// A checkpoint is missing, damaged or does not fit. The message names the file and what is wrong.
struct CheckpointError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ablate::training
