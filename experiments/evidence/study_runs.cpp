#include "experiments/evidence/study_runs.h"

#include "experiments/run_failure.h"
#include "experiments/run_one.h"

namespace ablate::experiments {

StudyRuns read_runs(const Study& study, const std::filesystem::path& folder) {
  const auto output = folder.parent_path();
  StudyRuns runs{.folder = folder, .missing = missing_runs(study, output)};
  for (const auto& run : study.runs)
    if (auto result = read_result(run_folder(output, study.name, run))) {
      result->arm = run.arm;  // the stored one where this arm is another with a tuned value
      runs.results.push_back(std::move(*result));
    }
  return runs;
}

}  // namespace ablate::experiments
