#include "experiments/schedule/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <variant>

#include "experiments/config/study/study_notes.h"
#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/schedule/process_pool.h"
#include "experiments/schedule/study_status.h"
#include "experiments/schedule/worker.h"
#include "training/process/interrupt.h"
#include "training/process/machine.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"

namespace ablate::schedule {
namespace {

using TaskAndArm = std::pair<std::string, std::string>;
using Estimates = std::map<TaskAndArm, records::RunEstimate>;

constexpr std::chrono::milliseconds kWait{1000};

TaskAndArm key_of(const config::RunSpecification& run) { return {run.task, run.arm}; }

/// The first run of each task and arm.
std::vector<const config::RunSpecification*> one_each(const config::Study& study) {
  std::map<TaskAndArm, bool> seen;
  std::vector<const config::RunSpecification*> runs;
  for (const auto& run : study.runs)
    if (!std::exchange(seen[key_of(run)], true)) runs.push_back(&run);
  return runs;
}

/// A temporary folder for plans.
class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "ablate-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw training::io_error("make", path_, errno);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  records::StudyFolder folder() const { return std::filesystem::path(path_); }

 private:
  std::string path_;
};

/// An estimate of every task and arm, each from a child process. Throws Interrupted.
Estimates estimate(const config::Study& study, const Sharing& sharing, bool timed) {
  const auto runs = one_each(study);
  const training::StopRequests requests;  // the folder has to be removed first
  const ScratchFolder scratch;
  Estimates estimates;
  ProcessPool pool;
  size_t next = 0;
  while (next < runs.size() || pool.running() > 0) {
    if (training::stop_requested()) throw training::Interrupted("interrupted; no file was written");
    for (; next < runs.size() && static_cast<int64_t>(pool.running()) < sharing.jobs; ++next) {
      const auto folder = scratch.folder().run(*runs[next]);
      records::write_plan(folder, study, *runs[next]);
      auto command = train_command(folder, {.threads = sharing.worker.threads});
      command.emplace_back("--dry-run");
      if (!timed) command.emplace_back("--untimed");
      pool.start(next, command);
    }
    for (const auto& event : pool.wait(kWait)) {
      if (const auto* end = std::get_if<ProcessEnd>(&event)) {
        if (end->exit_code != 0)
          throw RunsFailed(meaning_of(end->exit_code),
                           "no estimate of " + records::label(*runs[end->job]));
        continue;
      }
      const auto& line = std::get<ProcessLine>(event);
      const auto json = nlohmann::json::parse(line.text, nullptr, false);
      if (json.is_object())
        estimates[key_of(*runs[line.job])] = training::from_json<records::RunEstimate>(json);
      else
        std::cerr << records::label(*runs[line.job]) + ": " + line.text + "\n";
    }
  }
  return estimates;
}

/// Sums over the runs that are not finished.
struct Total {
  int64_t runs = 0;
  double flops = 0, seconds = 0;
  int64_t disk_bytes = 0;
  int64_t memory_bytes = 0;  // of the largest
};

double megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

constexpr auto kRow = "{:<{}}  {:<8}  {:>11}  {:>7}  {:>8}  {:>9}  {:>8}  {:>8}\n";

void print_row(const std::string& name, size_t width, const std::string& state,
               const records::RunEstimate& run) {
  std::cout << fmt::format(
      kRow, name, width, state, run.parameters, run.steps, fmt::format("{:.2e}", run.flops),
      run.memory_bytes > 0 ? fmt::format("{:.0f} MB", megabytes(run.memory_bytes)) : "-",
      std::isnan(run.seconds) ? "-" : clock_text(run.seconds),
      fmt::format("{:.1f} MB", megabytes(run.disk_bytes)));
}

/// A run to list, and the arm whose estimate it has.
struct ListedRun {
  config::RunSpecification run;
  TaskAndArm like;
};

/// The trial runs that have not ended, and the runs of the study.
std::vector<ListedRun> listed_runs(const config::Study& study, const records::StudyFolder& folder) {
  std::vector<ListedRun> runs;
  for (auto& search : records::searches(study, folder))
    for (auto& run : search.open)
      runs.push_back({std::move(run), {search.found.task, search.found.arm}});
  for (const auto& run : study.runs) runs.push_back({run, key_of(run)});
  return runs;
}

/// Trial runs that one arm can have beyond those of the file's values.
int64_t further_trials(const config::Tuning& tuning) {
  int64_t declared = 1, most = 1;
  for (const auto& key : tuning.keys) {
    const auto values = std::ssize(key.values);
    declared *= values;
    most *= values + (config::have_ends(key.values) ? tuning.extend : 0);
  }
  return (most - declared) * std::ssize(tuning.seeds);
}

void print_tuning(const config::Study& study, const std::vector<ListedRun>& runs) {
  std::vector<std::string> keys;
  for (const auto& key : study.tuning->keys) keys.push_back(key.path);
  std::cout << fmt::format(
      "{} of the runs listed look for the best {} on the seeds {}{}.",
      std::ssize(runs) - std::ssize(study.runs), fmt::join(keys, " and "),
      fmt::join(study.tuning->seeds, ", "),
      study.tuning->by == config::TunedBy::seed ? ", one for each seed of the study" : "");
  if (const auto further = further_trials(*study.tuning); further > 0)
    std::cout << fmt::format(
        " If a best value is the smallest or the largest of its list,\nmore follow: at most {} for "
        "each task and arm (tune.extend).",
        further);
  std::cout << "\n";
}

void print_total(const Total& total, const Sharing& sharing, double calibration) {
  const auto side_by_side = std::clamp<int64_t>(total.runs, 1, sharing.jobs);
  std::cout << fmt::format(
      "\n{} runs to do: {:.2e} FLOPs, {} with {} at a time, {:.0f} MB of memory for these{},\n"
      "{:.1f} MB of checkpoints.\n"
      "FLOPs are those of matrix products at every position, three times a forward pass's unless\n"
      "weights are frozen. Time and memory come from timed updates, a validation and a part of "
      "the\nevaluation of every arm on this machine, which took {:.0f} s; patience may end a run "
      "before its\nlast step.\n",
      total.runs, total.flops, clock_text(total.seconds / static_cast<double>(side_by_side)),
      side_by_side, megabytes(total.memory_bytes) * static_cast<double>(side_by_side),
      sharing.gpu
          ? " on the GPU"
          : fmt::format(", of {:.0f} MB that are free", megabytes(training::available_memory())),
      megabytes(total.disk_bytes), calibration);
}

void print_counted(const Total& total) {
  std::cout << fmt::format(
      "\n{} runs to do: {:.2e} FLOPs, {:.1f} MB of checkpoints.\n"
      "FLOPs are those of matrix products at every position, three times a forward pass's unless\n"
      "weights are frozen. Nothing was timed; the same command without --launcher and --ranks, on "
      "a\n"
      "node, estimates time and memory.\n",
      total.runs, total.flops, megabytes(total.disk_bytes));
}

/// Notes on the study from its file, its data and the machine.
void print_notes(const config::Study& study, const Estimates& estimates) {
  for (const auto& note : study.notes) std::cout << "note: " << note << "\n";
  std::map<std::string, std::vector<std::string>> runs;  // note -> task/arm
  for (const auto* run : one_each(study)) {
    const auto& one = estimates.at(key_of(*run));
    auto notes = one.notes;
    const auto& training = run->experiment.training;
    if (!training::reads_steps(training.budget))
      for (auto& note : config::training_notes(training, one.steps))
        notes.push_back(std::move(note));
    for (const auto& note : notes) runs[note].push_back(run->task + "/" + run->arm);
  }
  for (const auto& [note, names] : runs)
    std::cout << fmt::format("note: {} ({})\n", note, config::listed(names));
}

}  // namespace

void dry_run(const config::Study& study, const StudyOptions& options, const DryRun& how) {
  for (const auto& run : study.runs) check_ranks(run.experiment, options.ranks);
  auto sharing = how.timed ? share_cores(study, options) : Sharing{};
  if (sharing.gpu) sharing.jobs = 1;  // how fast runs are that share one is not known
  const auto begin = std::chrono::steady_clock::now();
  const auto estimates = estimate(study, sharing, how.timed);
  const std::chrono::duration<double> calibration = std::chrono::steady_clock::now() - begin;
  Total total;
  size_t width = 3;
  const auto runs = listed_runs(study, options.folder);
  for (const auto& one : runs) width = std::max(width, records::label(one.run).size());
  if (!how.json)
    std::cout << fmt::format(kRow, "run", width, "state", "parameters", "steps", "FLOPs", "memory",
                             "time", "disk");
  for (const auto& [run, like] : runs) {
    const auto state = records::state_of(run, options.folder);
    auto one = estimates.at(like);
    if (run.trial) one.seconds -= std::exchange(one.test_seconds, 0);
    if (how.json)
      std::cout << nlohmann::json{{"run", records::label(run)},
                                  {"state", state},
                                  {"estimate", training::to_json(one)}}
                       .dump()
                << "\n";
    else
      print_row(records::label(run), width, state, one);
    if (state == "finished" || state == "diverged") continue;
    ++total.runs;
    total.flops += one.flops;
    total.seconds += one.seconds;
    total.disk_bytes += one.disk_bytes;
    total.memory_bytes = std::max(total.memory_bytes, one.memory_bytes);
  }
  if (how.json) return;
  if (how.timed)
    print_total(total, sharing, calibration.count());
  else
    print_counted(total);
  print_notes(study, estimates);
  if (study.tuning && !study.by_curve()) print_tuning(study, runs);
}

}  // namespace ablate::schedule
