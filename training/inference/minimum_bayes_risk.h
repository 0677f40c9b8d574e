#pragma once

#include "training/inference/translator.h"

namespace ablate::training {

/// Of a line's candidates the one that is most like all of them: the highest mean sentence chrF
/// (minimum Bayes risk, Kumar & Byrne 2004). // index
size_t least_risk(std::span<const Translation> candidates);

}  // namespace ablate::training
