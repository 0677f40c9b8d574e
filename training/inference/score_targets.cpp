#include "training/inference/score_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/batch.h"
#include "models/inference/search.h"
#include "training/inference/length_check.h"
#include "training/storage/errors.h"
#include "training/update.h"

namespace ablate::training {

std::vector<std::optional<double>> score_targets(const Translator& translator,
                                                 std::span<const data::Example> examples,
                                                 int64_t rows) {
  const auto encoded = translator.format.encode_each(examples, translator.tokenizers).examples;
  check_lengths(translator.model.options(), "the given lines", encoded);
  std::vector<size_t> lengths;
  std::vector<int64_t> read;
  for (size_t i = 0; i < encoded.size(); ++i) {
    if (!translator.format.encode_source(examples[i].source, translator.tokenizers)) continue;
    read.push_back(static_cast<int64_t>(i));
    lengths.push_back(std::max(encoded[i].source.size(), encoded[i].target.size()));
  }
  std::vector<std::optional<double>> scores(examples.size());
  for (auto& batch : batches_by_length(lengths, rows)) {
    for (auto& row : batch) row = read[static_cast<size_t>(row)];
    const auto tensors = to_tensors(data::collate(encoded, batch), translator.model.device());
    const auto values =
        models::score(translator.model, tensors.source, tensors.target_in, tensors.target_out)
            .cpu();
    for (size_t i = 0; i < batch.size(); ++i) {
      const double score = values[static_cast<int64_t>(i)].item<double>();
      if (!std::isfinite(score))
        throw Diverged(fmt::format("line {}: the log-probability of its target is {}", batch[i] + 1,
                                   unsigned_nan(score)));
      scores[static_cast<size_t>(batch[i])] = score;
    }
  }
  return scores;
}

}  // namespace ablate::training
