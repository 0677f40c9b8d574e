#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// What the searches of a study have found.
TuningEvidence tuning_of(const config::Tuning& tuning);

/// A sentence for each chosen value that is the smallest or the largest one that was tried.
void add_edges(const TuningEvidence& tuning, std::vector<std::string>& notes);

/// "peak at the edge of its grid", "3 trial runs to go", "every combination diverged"; empty if
/// there is nothing to say.
std::string remark_on(const TunedArm& arm, const TuningEvidence& tuning);

/// "training.schedule.peak and training.optimizer.weight_decay"
std::string paths_of(const TuningEvidence& tuning);

/// "seed 101", "seeds 101, 102"
std::string seeds_of(const TuningEvidence& tuning);

/// "0.123"; "-" if it is not known.
std::string sensitivity_figure(const TunedArm& arm);

}  // namespace ablate::analysis
