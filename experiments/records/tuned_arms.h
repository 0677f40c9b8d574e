#pragma once

#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// The run of a candidate with one seed.
config::RunSpecification run_of(const config::Candidate& candidate, int64_t seed);

/// The state of the search for the best value of one arm.
struct Search {
  /// Runs that have to end before the choice, including failed ones: a full disk or a kill does not
  /// depend on the value. Only divergence does, and it counts as the worst score.
  std::vector<config::RunSpecification> open;
  const config::Candidate* best = nullptr;  // null until the choice, or if all diverged
  std::vector<config::TriedValue> tried;    // scores so far, in the order of the values
};

/// The searches of a study with tune, one for every task and arm, as far as its runs have ended.
/// Throws CheckpointError if a result.json is damaged.
std::vector<Search> searches(const config::Study& study, const StudyFolder& folder);

/// The study with a further arm `<arm>-tuned` for each arm: in each task the arm with the value of
/// the best validation metric, averaged over the tuning seeds. Test sets are not used. While values
/// of an arm are still to be tried, or if all diverged, the runs of its further arm count as not
/// started. `tuning->tried` has the score of each value. Throws CheckpointError if a result.json is
/// damaged.
config::Study with_tuned_arms(config::Study study, const StudyFolder& folder);

}  // namespace ablate::records
