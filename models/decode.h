#pragma once

#include <vector>

#include "models/libtorch.h"
#include "models/transformer.h"

namespace ablate::models {

struct SearchOptions {
  int64_t beam = 1;           // hypotheses kept; 1: greedy
  double length_penalty = 1;  // a finished hypothesis scores log p / pieces ^ penalty
  int64_t max_length = 256;   // most pieces, the end included
  double max_ratio = 1e9;     // and at most 10 + max_ratio * source pieces
  int64_t pad = 0;
  int64_t bos = 1;
  int64_t eos = 2;
};

/// One output. `ids` holds neither the start nor the end mark.
struct Hypothesis {
  std::vector<int64_t> ids;
  double score = 0;  // log p / pieces ^ penalty, the end mark counted
};

/// The best output found for every row of `source`, by beam search over cached steps. A row stops
/// when no unfinished hypothesis can still beat its best finished one; a row that never ends is cut
/// at `max_length`. Results do not depend on the other rows. A decoder-only model continues the
/// sequence of start mark and source. // [B, S]
std::vector<Hypothesis> search(Transformer& model, const torch::Tensor& source,
                               const SearchOptions& options);

/// Log-probability of each target given its source, the end mark included. // [B, S], [B, T] -> [B]
torch::Tensor score(Transformer& model, const torch::Tensor& source, const torch::Tensor& target_in,
                    const torch::Tensor& target_out, int64_t pad);

}  // namespace ablate::models
