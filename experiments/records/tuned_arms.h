#pragma once

#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// The run of a candidate of `tune` with one seed.
config::RunSpecification run_of(const config::Candidate& candidate, int64_t seed);

/// Where the search for the best value of one arm stands.
struct Search {
  /// Runs that have to end before it can go on. Those that failed are among them: a full disk or a
  /// kill says nothing of a value, and only one that diverges is worse than all others.
  std::vector<config::RunSpecification> open;
  const config::Candidate* best = nullptr;  // none, too, where all failed
  std::vector<config::TriedValue> tried;    // what is known of each value, in the order of values
};

/// The search for every task and arm of a study that tunes a key, each once, as far as the files of
/// its runs tell. Throws CheckpointError where a result.json is damaged.
std::vector<Search> searches(const config::Study& study, const StudyFolder& folder);

/// The study with a further arm `<arm>-tuned` for each: in each task the arm with the value whose
/// runs on the tuning seeds have the best validation figure, the mean over the seeds. Test sets
/// play no part. While values of an arm are still to be tried, or where all failed, the runs of its
/// further arm count as not started. What each value scored is in `tuning->tried`. Throws
/// CheckpointError where a result.json is damaged.
config::Study with_tuned_arms(config::Study study, const StudyFolder& folder);

}  // namespace ablate::records
