#pragma once

#include <span>
#include <vector>

#include "models/inference/hypothesis.h"
#include "models/inference/inference_model.h"
#include "models/libtorch.h"

namespace ablate::models {

/// The sources of a search.
struct SearchInput {
  torch::Tensor source;  // padded at the right // [B, S]
  SpecialTokens tokens;
  int64_t n_best = 1;                                   // outputs wanted of every row
  std::span<const std::vector<int64_t>> prefixes = {};  // that each row's outputs begin with
  std::span<const int64_t> unwritten = {};              // further tokens that no output has
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

}  // namespace ablate::models
