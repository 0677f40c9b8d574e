#pragma once

#include <set>
#include <span>
#include <string>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

using Arms = std::set<const LadderArm*>;

/// Whether the ladders have several values of this part.
bool vary(std::span<const Ladder> all, std::string Ladder::*part);

/// "all three blocks", "both sizes"
std::string all_rungs(const Ladder& ladder);

/// "better at all three blocks (0.119 to 0.185 bits per character less); its lead shrinks as the
/// block grows (p 0.031)": the verdicts on an arm over the rungs, as many `verdicts` in words, and
/// the slope, if it is shown. REQUIRES: the arm has effects, and each of them has a claim.
std::string lead_of(const Ladder& ladder, const LadderArm& arm,
                    std::span<const std::string> verdicts);

/// The slope, the interaction (of two rungs it is the slope), the turn and the best of an arm in
/// words, or why there is no claim. Empty of a baseline. The p of a slope is left out if lead_of()
/// has given it: of the arms `said`.
std::string sentence_on(const Ladder& ladder, const LadderArm& arm, const Arms& said = {});

/// The sentences on a study's ladders, empty if it has none. Arms of which only a slope is shown
/// share one sentence if there are several of them. Other arms that show something, or may not
/// claim anything, have a sentence each, and the last sentence names all that remain.
/// `said` has the arms of which the reader has had lead_of().
std::string headline_of(std::span<const Ladder> ladders, const Arms& said);

}  // namespace ablate::analysis
