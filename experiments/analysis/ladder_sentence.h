#pragma once

#include <span>
#include <string>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The slope, the interaction, the turn and the best of an arm in words, or why there is no claim.
/// Empty of a baseline.
std::string sentence_on(const Ladder& ladder, const LadderArm& arm);

/// The sentences on a study's ladders, empty if it has none. Arms of which only a slope is shown
/// share one sentence if there are several of them. Other arms that show something, or may not
/// claim anything, have a sentence each, and the last sentence names all that remain.
std::string headline_of(std::span<const Ladder> ladders);

}  // namespace ablate::analysis
