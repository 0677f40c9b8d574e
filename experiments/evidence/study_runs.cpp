#include "experiments/evidence/study_runs.h"

#include "experiments/run_one.h"

namespace ablate::experiments {

StudyRuns read_runs(const Study& study, const std::filesystem::path& folder) {
  StudyRuns runs{.folder = folder};
  for (const auto& run : study.runs) {
    const auto place = run_folder(folder.parent_path(), folder.filename().string(), run);
    if (auto result = read_result(place))
      runs.results.push_back(std::move(*result));
    else
      runs.missing.push_back(
          {run.task, run.arm, run.seed,
           std::filesystem::exists(place / "config.yaml") ? "not finished" : "not started"});
  }
  return runs;
}

}  // namespace ablate::experiments
