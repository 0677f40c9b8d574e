#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "data/encoded_example.h"
#include "models/transformer_options.h"

namespace ablate::training {

/// The longest sequence that a stack has positions for, and the key that says so.
struct PositionLimit {
  int64_t tokens;
  std::string key;
};

/// Nothing where the position scheme takes any length.
std::optional<PositionLimit> position_limit(const models::TransformerOptions& model,
                                            models::Side side);

/// Throws LengthError where the model has no positions for the whole of some examples: how many of
/// `set` these are, the first of them, and the key to raise.
void check_lengths(const models::TransformerOptions& model, const std::string& set,
                   std::span<const data::EncodedExample> examples);

/// Throws LengthError where it has none for all tokens of a line that it is to read.
void check_line(const models::TransformerOptions& model, int64_t number, size_t tokens);

}  // namespace ablate::training
