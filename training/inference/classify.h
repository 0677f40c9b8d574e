#pragma once

#include "training/inference/translator.h"

namespace ablate::training {

/// The likeliest class of every line with its log-probability, `rows` lines together; none of a
/// blank line. REQUIRES: a model with a label head.
std::vector<Translation> classify(const Translator& translator, std::span<const std::string> lines,
                                  int64_t rows);

}  // namespace ablate::training
