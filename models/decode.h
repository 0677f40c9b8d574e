#pragma once

#include <span>
#include <vector>

#include "models/libtorch.h"
#include "models/search_options.h"
#include "models/transformer.h"

namespace ablate::models {

/// Rows to decode.
struct SearchInput {
  torch::Tensor source;                            // [B, S]
  std::span<const std::vector<int64_t>> prefixes;  // what each row's outputs begin with; or empty
  std::span<const int64_t> numbers;  // of each row, which decide what is drawn; empty: 0, 1, ...
};

/// The best `n_best` outputs found for every row of the source, best first, by beam search over
/// cached steps, or as many drawn at random. A row stops when no unfinished hypothesis can still
/// beat its worst wanted one; a row that never ends is cut at `max_length`. Results do not depend
/// on the other rows. Several models vote by the mean of their probabilities. Decoder-only models
/// continue the sequence of start mark and source.
std::vector<std::vector<Hypothesis>> search_all(std::span<Transformer> models,
                                                const SearchInput& input,
                                                const SearchOptions& options);

/// The best output of one model for every row. // [B, S]
std::vector<Hypothesis> search(Transformer& model, const torch::Tensor& source,
                               const SearchOptions& options);

/// Log-probability of each target given its source, the end mark included. // [B, S], [B, T] -> [B]
torch::Tensor score(Transformer& model, const torch::Tensor& source, const torch::Tensor& target_in,
                    const torch::Tensor& target_out, int64_t pad);

}  // namespace ablate::models
