#pragma once

#include <vector>

#include "experiments/config/study.h"
#include "experiments/records/failure.h"
#include "experiments/records/folders.h"
#include "experiments/records/result.h"

namespace ablate::records {

/// What a study's folder holds of its runs.
struct StudyRuns {
  StudyFolder folder;
  std::vector<RunResult> results;
  std::vector<MissingRun> missing;  // every other run of the study
};

/// The runs of `study` in its folder. Throws CheckpointError where a result.json or a
/// file beside it is damaged.
StudyRuns read_runs(const config::Study& study, const StudyFolder& folder);

}  // namespace ablate::records
