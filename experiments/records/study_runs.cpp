#include "experiments/records/study_runs.h"

#include "experiments/records/failure.h"

namespace ablate::records {

StudyRuns read_runs(const config::Study& study, const StudyFolder& folder) {
  StudyRuns runs{.folder = folder};
  for (const auto& run : study.runs) {
    const auto place = folder.run(run);
    if (auto result = read_result(place)) {
      check_files(place, *result);
      result->arm = run.arm;  // the stored one where this arm is another with a tuned value
      runs.results.push_back(std::move(*result));
    } else {
      runs.missing.push_back({run.task, run.arm, run.seed, why_missing(place)});
    }
  }
  return runs;
}

}  // namespace ablate::records
