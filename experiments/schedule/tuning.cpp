#include "experiments/schedule/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "experiments/config/study/curve.h"
#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "experiments/records/tuned_arms.h"
#include "training/storage/durable_file.h"

namespace ablate::schedule {
namespace {

using Runs = std::vector<config::RunSpecification>;

/// Whether the run has failed, or one of `runs` that it starts from.
bool has_failed(const config::RunSpecification& run, const Runs& runs,
                const records::StudyFolder& folder) {
  if (records::read_failure(folder.run(run))) return true;
  const auto& from = run.experiment.training.init_from.arm;
  const auto start = std::ranges::find_if(runs, [&](const auto& other) {
    return from && other.task == run.task && other.arm == *from && other.seed == run.seed;
  });
  return start != runs.end() && has_failed(*start, runs, folder);
}

void clear(const records::RunFolder& run) {
  records::remove_failure(run);
  training::remove_leftover_files(run.path);
}

/// The runs of one arm in one task of a study by curve.
struct CurveRuns {
  std::set<std::string> values, diverged;
  bool open = false;
};

/// Adds the arms whose runs have all ended and have left too few values for a curve.
void add_arms_without_curve(const config::Study& study, const records::StudyFolder& folder,
                            StudyOutcome& outcome) {
  if (!study.by_curve()) return;
  std::map<std::string, CurveRuns> arms;
  for (const auto& run : study.runs) {
    auto& arm = arms[run.task + "/" + run.arm];
    const auto score = records::tuned_score(*study.tuning, folder.run(run));
    arm.values.insert(run.point);
    arm.open = arm.open || !score;
    if (score && std::isnan(*score)) arm.diverged.insert(run.point);
  }
  for (const auto& [name, arm] : arms)
    if (!arm.open && arm.values.size() - arm.diverged.size() < config::kFewestPoints)
      outcome.failed.push_back(
          {name, static_cast<int>(ExitCode::diverged),
           fmt::format("runs diverged at {} of {} values of {}, and a curve takes {}; give other "
                       "values",
                       arm.diverged.size(), arm.values.size(), study.tuning->keys.front().path,
                       config::kFewestPoints)});
}

/// The runs whose configuration is known by the files of earlier ones, finished or not: trial runs
/// that have not ended, and the runs of arms whose values are known, by curve without those that
/// diverged. Throws CheckpointError if a result.json is damaged.
std::vector<config::RunSpecification> known_runs(const config::Study& study,
                                                 const records::StudyFolder& folder) {
  auto runs = records::open_trials(study, folder);
  std::erase_if(runs, [](const auto& run) { return !run.waits.empty(); });
  for (auto& run : records::with_best_values(study, folder).runs)
    if (run.waits.empty() && !records::is_left_out(run, folder)) runs.push_back(std::move(run));
  return runs;
}

}  // namespace

void clear_earlier_start(const config::Study& study, const records::StudyFolder& folder) {
  for (const auto& run : study.runs)
    if (!records::is_left_out(run, folder)) clear(folder.run(run));
  for (const auto& run : records::open_trials(study, folder)) clear(folder.run(run));
}

StudyOutcome run_with_tuning(const config::Study& study, const StudyOptions& options) {
  const auto progress = [&] { return records::progress_of(study, options.folder); };
  if (!study.tuning) return run_study(study, options, progress());
  clear_earlier_start(study, options.folder);
  for (;;) {
    auto now = study;
    const auto known = known_runs(study, options.folder);
    now.runs.clear();
    std::ranges::copy_if(known, std::back_inserter(now.runs),
                         [&](const auto& run) { return !has_failed(run, known, options.folder); });
    bool interrupted = run_study(now, options, progress()).interrupted;
    const auto left = known_runs(study, options.folder);
    const bool more = std::ranges::any_of(left, [&](const auto& run) {
      return !is_done(options.folder.run(run)) && !has_failed(run, left, options.folder);
    });
    if (more && !interrupted) continue;
    auto outcome = outcome_of(study, options.folder);
    outcome.interrupted = interrupted;
    return outcome;
  }
}

std::vector<config::RunSpecification> next_wave(const config::Study& study,
                                                const records::StudyFolder& folder,
                                                int64_t retries) {
  auto runs = known_runs(study, folder);
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

StudyOutcome outcome_of(const config::Study& study, const records::StudyFolder& folder) {
  StudyOutcome outcome;
  for (const auto& run : known_runs(study, folder)) {
    const auto place = folder.run(run);
    if (is_done(place)) continue;
    const auto failure = records::read_failure(place);
    if (failure && meaning_of(failure->exit_code) != ExitCode::interrupted)
      outcome.failed.push_back({records::label(run), failure->exit_code});
    else
      outcome.interrupted = true;
  }
  for (const auto& search : records::searches(study, folder))
    if (search.has_none() && !search.found.tried.empty())
      outcome.failed.push_back({search.found.task + "/" + search.found.arm +
                                    (search.seed ? fmt::format("/seed-{}", *search.seed) : ""),
                                static_cast<int>(ExitCode::diverged),
                                "every combination of tune.keys diverged on a tuning seed; give "
                                "other values"});
  add_arms_without_curve(study, folder, outcome);
  return outcome;
}

}  // namespace ablate::schedule
