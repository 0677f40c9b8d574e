#pragma once

#include <optional>
#include <span>
#include <vector>

#include "training/inference/translator.h"

namespace ablate::training {

/// Log-probability of every target given its source, the end token included, in nats; `rows`
/// examples together. An example with a blank source has no score. Throws LengthError if the model
/// has too few positions.
std::vector<std::optional<double>> score_targets(const Translator& translator,
                                                 std::span<const data::Example> examples,
                                                 int64_t rows);

}  // namespace ablate::training
