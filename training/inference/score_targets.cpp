#include "training/inference/score_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/batch.h"
#include "models/inference/search.h"
#include "training/diverged.h"
#include "training/inference/length_batches.h"
#include "training/inference/length_check.h"
#include "training/update.h"

namespace ablate::training {

std::vector<double> score_targets(const Translator& translator,
                                  std::span<const data::Example> examples, int64_t rows) {
  const auto encoded = translator.format.encode_each(examples, translator.tokenizers).examples;
  check_lengths(translator.model.options(), "the given lines", encoded);
  std::vector<size_t> lengths;
  for (const auto& example : encoded)
    lengths.push_back(std::max(example.source.size(), example.target.size()));
  std::vector<double> scores(examples.size());
  for (const auto& batch : batches_by_length(lengths, rows)) {
    const auto tensors = to_tensors(data::collate(encoded, batch), translator.model.device());
    const auto values =
        models::score(translator.model, tensors.source, tensors.target_in, tensors.target_out)
            .cpu();
    for (size_t i = 0; i < batch.size(); ++i) {
      const double score = values[static_cast<int64_t>(i)].item<double>();
      if (!std::isfinite(score))
        throw Diverged(
            fmt::format("line {}: the log-probability of its target is {}", batch[i] + 1, score));
      scores[static_cast<size_t>(batch[i])] = score;
    }
  }
  return scores;
}

}  // namespace ablate::training
