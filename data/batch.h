#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/token_file.h"
#include "tokenizer/special_tokens.h"

namespace ablate::data {

/// The token that a decoder reads before the first token of every target.
inline constexpr int32_t kStartToken = tokenizer::kBos;

/// Ids that a model reads and writes. Both sides of a pair end with the end token; a sequence that
/// only a decoder reads has no source.
struct EncodedExample {
  std::vector<int32_t> source, target;
  int64_t prompt_length = 0;  // first ids of `target`, which are read and not predicted
  bool started = true;        // the start token is read before `target`, or else a prompt begins it
};

struct EncodedSet {
  std::vector<EncodedExample> examples;
  std::optional<FileText> text = {};  // in place of examples, running text that stays in its file
  int64_t cut_sources = 0, cut_targets = 0;  // sides that were longer than the limit
};

struct PlanOptions {
  int64_t tokens_per_batch;  // most padded ids of either side of a batch
  uint64_t seed;
  int64_t epoch;
};

/// Ids of the longer side of each example.
std::vector<int64_t> lengths_of(std::span<const EncodedExample> examples);

/// Indices of one epoch's batches of examples of these lengths: every example once, examples of
/// like length together, batches and their contents shuffled. A pure function of its arguments. An
/// example longer than a batch is its own batch.
std::vector<std::vector<int64_t>> batch_plan(std::span<const int64_t> lengths,
                                             const PlanOptions& options);

/// The same sizes without any shuffling, for evaluation.
std::vector<std::vector<int64_t>> ordered_plan(std::span<const EncodedExample> examples,
                                               int64_t tokens_per_batch);

/// Padded ids, row-major. The decoder reads `target_in` (start token first, if there is one) and
/// predicts `target_out`, which is padding at positions without a prediction.
struct Batch {
  int64_t rows = 0, source_length = 0, target_length = 0;
  std::vector<int64_t> source;      // [rows, source_length]; empty for a decoder-only model
  std::vector<int64_t> target_in;   // [rows, target_length]
  std::vector<int64_t> target_out;  // [rows, target_length]
  int64_t tokens = 0;               // ids of target_out that are no padding
};

/// Throws DataError if a side is empty: even an empty text has its end token.
Batch collate(std::span<const EncodedExample> examples, std::span<const int64_t> indices);

/// The batch with the first `length` positions of every target, or with all.
Batch first_targets(Batch batch, int64_t length);

}  // namespace ablate::data
