#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/batch.h"
#include "models/inference/search_options.h"
#include "models/libtorch.h"
#include "models/options/transformer_options.h"

namespace ablate::training {

/// The longest sequence that a stack has positions for, and the key that sets it.
struct PositionLimit {
  int64_t tokens;
  std::string key;
};

/// nullopt if the position scheme takes any length.
std::optional<PositionLimit> position_limit(const models::TransformerOptions& model,
                                            models::Side side);

/// Throws LengthError if some examples exceed the model's positions, with the number of such
/// examples of `set`, the first of them, and the key to raise.
void check_lengths(const models::TransformerOptions& model, const std::string& set,
                   std::span<const data::EncodedExample> examples);

/// Throws LengthError if outputs of some examples may exceed the model's positions, with the number
/// of such examples of `set`, the first of them, and the keys.
void check_outputs(const models::TransformerOptions& model, const std::string& set,
                   std::span<const data::EncodedExample> examples,
                   const models::SearchOptions& decoding);

/// The length of a line and the greatest length of its output.
struct LineLengths {
  int64_t number;       // from 1 on
  int64_t tokens;       // of the line
  int64_t output = 0;   // most tokens that are written
  int64_t prefix = 0;   // of these, those that are given
  bool started = true;  // the decoder reads the start token first
};

/// Throws LengthError if they exceed the model's positions.
void check_line(const models::TransformerOptions& model, const LineLengths& line);

/// Indices of `lengths` in batches of at most `rows`, the longest first, so that the rows of a
/// batch end together and the first batch needs the most memory. REQUIRES: rows > 0.
std::vector<std::vector<int64_t>> batches_by_length(std::span<const size_t> lengths, int64_t rows);

/// Calls `work(i)` for every i below `count`, on `jobs` threads, each of which uses no further
/// threads; rethrows an exception of one of them. LibTorch's number of threads is restored
/// afterwards.
void in_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& work);

/// The rows of one batch, padded. // [B, S]
torch::Tensor source_tensor(std::span<const std::vector<int32_t>> sources,
                            std::span<const int64_t> rows, torch::Device device);

}  // namespace ablate::training
