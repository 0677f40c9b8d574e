#pragma once

#include <optional>
#include <span>
#include <vector>

#include "training/inference/translator.h"

namespace ablate::training {

/// Log-probability of every target given its source, the end token included, in nats; `rows`
/// examples together. Nothing where the source is blank, which is not given to a model. Throws
/// LengthError where the model has no positions for all of them.
std::vector<std::optional<double>> score_targets(const Translator& translator,
                                                 std::span<const data::Example> examples,
                                                 int64_t rows);

}  // namespace ablate::training
