#include "experiments/evidence/study_runs.h"

#include "experiments/run_failure.h"
#include "experiments/run_one.h"

namespace ablate::experiments {

StudyRuns read_runs(const Study& study, const std::filesystem::path& folder) {
  const auto output = folder.parent_path();
  StudyRuns runs{.folder = folder};
  for (const auto& run : study.runs) {
    const auto place = run_folder(output, study.name, run);
    if (auto result = read_result(place)) {
      result->arm = run.arm;  // the stored one where this arm is another with a tuned value
      runs.results.push_back(std::move(*result));
    } else {
      runs.missing.push_back({run.task, run.arm, run.seed, why_missing(place)});
    }
  }
  return runs;
}

}  // namespace ablate::experiments
