#pragma once

#include <span>
#include <string>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The slope, the interaction, the turn and the best of an arm in words, or why there is no claim.
/// Empty of a baseline.
std::string sentence_on(const Ladder& ladder, const LadderArm& arm);

/// What the ladders of a study show: the slopes of arms that show nothing else in one sentence if
/// there are several, the sentences of other arms that show something or may not claim anything,
/// and the names of the rest. Empty without ladders.
std::string headline_of(std::span<const Ladder> ladders);

}  // namespace ablate::analysis
