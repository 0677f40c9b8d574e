#pragma once

#include <stdexcept>

namespace ablate::tokenizer {

/// A tokenizer model or training text that cannot be used.
struct TokenizerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ablate::tokenizer
