#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// What the searches of a study have found.
TuningEvidence tuning_of(const config::Tuning& tuning);

/// Whether every search of the arm has chosen values.
bool has_chosen(const config::ArmSearch& search);

/// The chosen value of a key, or "0.004 (2), 0.008 (4)" if seeds have several; "-" without any.
std::string chosen_values(const config::ArmSearch& search, size_t key);

/// The searches of the arm whose chosen value of the key is an end of its values.
int64_t at_edge(const config::ArmSearch& search, const config::TunedKey& key);

/// A sentence for each chosen value that is the smallest or the largest one that was tried.
void add_edges(const TuningEvidence& tuning, std::vector<std::string>& notes);

/// "peak at the edge of its grid", "3 trial runs to go", "every combination diverged"; empty if
/// there is nothing to say.
std::string remark_on(const TunedArm& arm, const TuningEvidence& tuning);

/// "training.schedule.peak and training.optimizer.weight_decay"
std::string paths_of(const TuningEvidence& tuning);

/// "seed 101", "seeds 101, 102", "a seed of its own (101, 102)"
std::string seeds_of(const TuningEvidence& tuning);

/// "0.123"; "-" if it is not known.
std::string sensitivity_figure(const TunedArm& arm);

}  // namespace ablate::analysis
