#pragma once

#include <exception>
#include <stdexcept>

namespace ablate::training {

/// Memory had no room for what the message names.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether memory, that of a CUDA device included, had no room for what ended so. oneDNN does not
/// say why it could not do something, so what it throws never counts.
bool is_out_of_memory(const std::exception& error);

}  // namespace ablate::training
