#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/encoded_example.h"

namespace ablate::data {

/// Padded ids, row-major. The decoder reads `target_in` (start token first) and predicts
/// `target_out`, which holds padding where nothing is to be predicted.
struct Batch {
  int64_t rows = 0, source_length = 0, target_length = 0;
  std::vector<int64_t> source;      // [rows, source_length]; none for a decoder alone
  std::vector<int64_t> target_in;   // [rows, target_length]
  std::vector<int64_t> target_out;  // [rows, target_length]
  int64_t tokens = 0;               // ids of target_out that are no padding
};

/// Throws DataError where a side is empty: even an empty text has its end token.
Batch collate(std::span<const EncodedExample> examples, std::span<const int64_t> indices);

/// Padded ids of sources alone, row-major.
struct SourceBatch {
  int64_t rows = 0, length = 0;
  std::vector<int64_t> ids;  // [rows, length]
};

SourceBatch collate_sources(std::span<const std::vector<int32_t>> sources,
                            std::span<const int64_t> indices);

}  // namespace ablate::data
