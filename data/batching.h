#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/encoded_example.h"

namespace ablate::data {

struct PlanOptions {
  int64_t tokens_per_batch;  // most padded ids of either side of a batch
  uint64_t seed;
  int64_t epoch;
};

/// Ids of the longer side of each example.
std::vector<int64_t> lengths_of(std::span<const EncodedExample> examples);

/// Indices of one epoch's batches of examples of these lengths: every example once, examples of
/// like length together, batches and their contents shuffled. A pure function of its arguments. An
/// example longer than a batch is a batch of its own.
std::vector<std::vector<int64_t>> batch_plan(std::span<const int64_t> lengths,
                                             const PlanOptions& options);

/// The same sizes without any shuffling, for evaluation.
std::vector<std::vector<int64_t>> ordered_plan(std::span<const EncodedExample> examples,
                                               int64_t tokens_per_batch);

}  // namespace ablate::data
