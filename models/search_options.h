#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ablate::models {

/// Draws every next piece at random instead of searching for the likeliest output.
struct Sampling {
  double temperature = 1;  // divides the log-probabilities
  int64_t top_k = 0;       // only the likeliest; 0: all
  double top_p = 1;        // only the likeliest that together have this probability
  uint64_t seed = 1;
};

/// As end mark: outputs go on up to their greatest length.
constexpr int64_t kNoEnd = -1;

struct SearchOptions {
  int64_t beam = 1;               // hypotheses kept; 1: greedy
  int64_t n_best = 1;             // outputs of a row: of the beam, or drawn
  double length_penalty = 1;      // a finished hypothesis scores log p / pieces ^ penalty
  double coverage_penalty = 0;    // plus this times sum over source pieces of log min(1, attention)
  int64_t min_length = 0;         // fewest pieces before the end mark
  int64_t max_length = 256;       // most pieces, the end included
  double max_ratio = 1e9;         // and at most 10 + max_ratio * source pieces
  double repetition_penalty = 1;  // weakens pieces that an output has already (Keskar et al. 2019)
  int64_t no_repeat_ngram = 0;    // no n pieces twice in an output; 0: any
  std::optional<Sampling> sampling;
  int64_t pad = 0;
  int64_t bos = 1;
  int64_t eos = 2;
  int64_t start = 1;  // what stands before the first piece
};

/// One output. `ids` holds neither the start nor the end mark.
struct Hypothesis {
  std::vector<int64_t> ids;
  double score = 0;  // log p / pieces ^ penalty, the end mark counted, and the coverage penalty
  double log_probability = 0;  // log p
};

/// What the search asks about of one row of logits.
struct Written {
  const std::vector<int64_t>* ids;     // so far
  const std::vector<int64_t>* prefix;  // the output must begin with; null: nothing
};

}  // namespace ablate::models
