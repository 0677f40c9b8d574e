#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/libtorch.h"

namespace ablate::training {

/// Indices of `lengths` in batches of at most `rows`, the longest first, so that the rows of a
/// batch end together and the first batch needs the most memory. REQUIRES: rows > 0.
std::vector<std::vector<int64_t>> batches_by_length(std::span<const size_t> lengths, int64_t rows);

/// Calls `work(i)` for every i below `count`, on `jobs` threads of which each computes alone;
/// rethrows what one of them threw. LibTorch's number of threads is afterwards what it was.
void in_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& work);

/// The rows of one batch, padded. // [B, S]
torch::Tensor source_tensor(std::span<const std::vector<int32_t>> sources,
                            std::span<const int64_t> rows, torch::Device device);

}  // namespace ablate::training
