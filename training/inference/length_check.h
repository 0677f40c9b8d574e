#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "data/encoded_example.h"
#include "models/inference/search_options.h"
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

/// Throws LengthError where it has none for all that outputs of some examples may grow to: how many
/// of `set` these are, the first of them, and the keys.
void check_outputs(const models::TransformerOptions& model, const std::string& set,
                   std::span<const data::EncodedExample> examples,
                   const models::SearchOptions& decoding);

/// A line to read, and what may be written for it.
struct LineLengths {
  int64_t number;      // from 1 on
  int64_t tokens;      // of the line
  int64_t output = 0;  // most tokens that are written
  int64_t prefix = 0;  // of these, those that are given
};

/// Throws LengthError where the model has no positions for all of them.
void check_line(const models::TransformerOptions& model, const LineLengths& line);

}  // namespace ablate::training
