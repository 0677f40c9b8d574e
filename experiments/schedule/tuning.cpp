#include "experiments/schedule/tuning.h"

#include <algorithm>

#include "experiments/records/failure.h"
#include "experiments/records/tuned_arms.h"

namespace ablate::schedule {
namespace {

/// Adds the run where it is not one of them.
void add_run(config::RunSpecification run, std::vector<config::RunSpecification>& runs) {
  const auto same = [&](const config::RunSpecification& other) {
    return records::label(other) == records::label(run);
  };
  if (std::ranges::none_of(runs, same)) runs.push_back(std::move(run));
}

/// Runs of candidates that failed are tried again.
void forget_failures(const config::Study& study, const records::StudyFolder& folder) {
  for (const auto& candidate : study.tuning->candidates)
    for (const int64_t seed : study.tuning->seeds)
      records::remove_failure(folder.run(records::run_of(candidate, seed)));
}

void append(StudyOutcome& outcome, const StudyOutcome& more) {
  outcome.failed.insert(outcome.failed.end(), more.failed.begin(), more.failed.end());
  outcome.interrupted = outcome.interrupted || more.interrupted;
}

}  // namespace

StudyOutcome run_with_tuning(const config::Study& study, const StudyOptions& options) {
  if (!study.tuning) return run_study(study, options);
  forget_failures(study, options.folder);
  auto stage = study;
  StudyOutcome outcome;
  for (;;) {
    bool searching = false;
    for (const auto& search : records::searches(study, options.folder)) {
      searching = searching || !search.open.empty();
      for (const auto& run : search.open) add_run(run, stage.runs);
    }
    if (!stage.runs.empty()) append(outcome, run_study(stage, options));
    if (outcome.interrupted) return outcome;
    stage.runs.clear();
    if (!searching) break;
  }
  for (const auto& search : records::searches(study, options.folder))
    for (const int64_t seed : study.seeds)
      if (search.best != nullptr) add_run(records::run_of(*search.best, seed), stage.runs);
  if (!stage.runs.empty()) append(outcome, run_study(stage, options));
  return outcome;
}

}  // namespace ablate::schedule
