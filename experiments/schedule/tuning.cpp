#include "experiments/schedule/tuning.h"

#include <algorithm>

#include "experiments/records/failure.h"
#include "experiments/records/tuned_arms.h"
#include "training/storage/durable_file.h"

namespace ablate::schedule {
namespace {

/// Adds the run unless it is one of them.
void add_run(config::RunSpecification run, std::vector<config::RunSpecification>& runs) {
  const auto same = [&](const config::RunSpecification& other) {
    return records::label(other) == records::label(run);
  };
  if (std::ranges::none_of(runs, same)) runs.push_back(std::move(run));
}

bool has_failed(const config::RunSpecification& run, const records::StudyFolder& folder) {
  return records::read_failure(folder.run(run)).has_value();
}

void append(StudyOutcome& outcome, const StudyOutcome& more) {
  outcome.failed.insert(outcome.failed.end(), more.failed.begin(), more.failed.end());
  outcome.interrupted = outcome.interrupted || more.interrupted;
}

/// A value that lost its search may never start again, so its leftovers are removed here.
void clear(const records::RunFolder& run) {
  records::remove_failure(run);
  training::remove_leftover_files(run.path);
}

}  // namespace

void clear_earlier_start(const config::Study& study, const records::StudyFolder& folder) {
  for (const auto& run : study.runs) clear(folder.run(run));
  if (!study.tuning) return;
  for (const auto& candidate : study.tuning->candidates)
    for (const auto* seeds : {&study.tuning->seeds, &study.seeds})
      for (const int64_t seed : *seeds) clear(folder.run(records::run_of(candidate, seed)));
}

TuningStage tuning_stage(const config::Study& study, const records::StudyFolder& folder) {
  TuningStage stage;
  if (!study.tuning) return stage;
  const auto searches = records::searches(study, folder);
  for (const auto& search : searches)
    for (const auto& run : search.open) {
      stage.searching = stage.searching || !has_failed(run, folder);
      add_run(run, stage.runs);
    }
  if (stage.searching) return stage;
  for (const auto& search : searches)
    for (const int64_t seed : study.seeds)
      if (search.best != nullptr) add_run(records::run_of(*search.best, seed), stage.runs);
  return stage;
}

StudyOutcome run_with_tuning(const config::Study& study, const StudyOptions& options) {
  if (!study.tuning) return run_study(study, options);
  clear_earlier_start(study, options.folder);
  auto now = study;
  StudyOutcome outcome;
  for (;;) {
    const auto stage = tuning_stage(study, options.folder);
    for (const auto& run : stage.runs)
      if (!has_failed(run, options.folder)) add_run(run, now.runs);
    if (!now.runs.empty()) append(outcome, run_study(now, options));
    if (outcome.interrupted || !stage.searching) return outcome;
    now.runs.clear();
  }
}

std::vector<config::RunSpecification> next_wave(const config::Study& study,
                                                const records::StudyFolder& folder,
                                                int64_t retries) {
  auto runs = study.runs;
  for (const auto& run : tuning_stage(study, folder).runs) add_run(run, runs);
  std::erase_if(runs, [&](const config::RunSpecification& run) {
    const auto place = folder.run(run);
    const auto& from = run.experiment.training.init_from.arm;
    const auto failure = records::read_failure(place);
    return is_done(place) || (from && !std::filesystem::exists(place.of_arm(*from).result())) ||
           (failure &&
            !(records::worth_retrying(failure->exit_code) && failure->attempts <= retries));
  });
  return runs;
}

}  // namespace ablate::schedule
