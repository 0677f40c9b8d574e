#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tokenizer/tokenizer.h"

namespace ablate::tokenizer {

/// A text as the tokenizer tells texts apart: what its normalisation takes away is gone, and the
/// sign that it writes for a space is a space.
std::string normal_form(const Tokenizer& tokenizer, std::string_view text);

/// What becomes of a text that is written in a tokenizer's tokens and read again.
struct Fidelity {
  int64_t unknown_tokens = 0;
  int64_t hidden_bytes = 0;  // of the normalised text, behind the unknown tokens
  bool altered = false;      // it comes back otherwise
  bool lost = false;         // and its normal form, too
};

Fidelity fidelity(const Tokenizer& tokenizer, std::string_view text);

}  // namespace ablate::tokenizer
