#pragma once

#include <filesystem>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/evidence/evidence.h"
#include "experiments/result.h"

namespace ablate::experiments {

/// What a study's folder holds of its runs.
struct StudyRuns {
  std::filesystem::path folder;  // <output>/<study>
  std::vector<RunResult> results;
  std::vector<MissingRun> missing;  // every other run of the study
};

/// The runs of `study` in its folder. Throws CheckpointError where a result.json is damaged.
StudyRuns read_runs(const Study& study, const std::filesystem::path& folder);

}  // namespace ablate::experiments
