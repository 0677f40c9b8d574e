#pragma once

#include <span>
#include <vector>

#include "models/inference/hypothesis.h"
#include "models/inference/inference_model.h"
#include "models/libtorch.h"
#include "models/ops/top_k.h"

namespace ablate::models {

/// The sources of a search.
struct SearchInput {
  torch::Tensor source;  // padded at the right // [B, S]
  SpecialTokens tokens;
  int64_t n_best = 1;                                   // outputs wanted of every row
  std::span<const std::vector<int64_t>> prefixes = {};  // that each row's outputs begin with
  std::span<const int64_t> numbers = {};  // of the rows, which seed sampling; empty: 0, 1, ...
  SearchCount* count = nullptr;           // to add to; null: nobody counts
};

/// The `n_best` best outputs found for every row of the source, best first, by beam search over
/// cached steps, or as many drawn at random. A row stops when no open hypothesis can still beat the
/// worst of them; one that never ends is cut at the greatest length. Results do not depend on the
/// other rows. Several models are an ensemble by the mean of their probabilities. Decoder-only
/// models continue the sequence of start token and source; prompts of different lengths share a
/// batch: shorter ones are already continued while longer ones are still read. An output that no
/// token may follow ends there, however short. Throws NotFinite if a model's scores are NaN.
std::vector<std::vector<Hypothesis>> search_all(std::span<const InferenceModel> models,
                                                const SearchInput& input,
                                                const SearchOptions& options);

/// The best output of one model for every row.
std::vector<Hypothesis> search(const InferenceModel& model, const SearchInput& input,
                               const SearchOptions& options);

/// Log-probability of each target given its source, the end token included; padding is ignored.
/// // [B, S], [B, T], [B, T] -> [B]
torch::Tensor score(const InferenceModel& model, const torch::Tensor& source,
                    const torch::Tensor& target_in, const torch::Tensor& target_out);

/// The likeliest tokens of every row after the processors, with their log-probabilities in double,
/// on the CPU: `count` of them without padding and `bos`, or all there are. // [R, V]
ops::TopK top_tokens(const torch::Tensor& logits, const LogitsProcessors& processors,
                     std::span<const RowContext> rows, int64_t count);

/// Extends every open hypothesis by its best tokens and keeps the best `beam` of each state; of
/// equal ones those of the better parent come first. REQUIRES: 2 * beam tokens of every row without
/// padding and `bos`, or all there are. A hypothesis that no token may follow ends. Throws
/// NotFinite.
NextRows beam_step(std::span<BeamState> states, const ops::TopK& top, const SearchRules& rules);

/// Inverse transform sampling: the token of a uniform number in
/// [0, 1), with the likeliest tokens first, by the probabilities after temperature, top-k (Fan et
/// al. 2018) and top-p (Holtzman et al. 2020), both of which keep at least the likeliest token.
/// REQUIRES: a token that is possible, and no NaN. // [V]
int64_t sample_token(std::span<const double> log_probability, const RandomSampling& sampling,
                     double uniform);

/// Draws the next token of every open hypothesis; a state that has not begun opens n_best of them.
/// Each hypothesis has its own random numbers, which do not depend on the batch; it ends if no
/// token may follow. Throws NotFinite. // [R, V]
NextRows sample_step(std::span<BeamState> states, const torch::Tensor& log_probability,
                     const SearchRules& rules);

}  // namespace ablate::models
