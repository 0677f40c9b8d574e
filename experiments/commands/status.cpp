#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <thread>

#include "experiments/commands/commands.h"
#include "experiments/exchange/pack.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/run/model_cost.h"
#include "experiments/schedule/launch.h"
#include "experiments/schedule/study_status.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

constexpr std::chrono::seconds kLookEvery{5};
constexpr int kIdleLooks = 2;  // in a row, since between two runs there is a moment without one

struct StatusRequest {
  std::string folder;
  bool json = false;
  bool watch = false;
};

/// Slurm is not asked if the study was never submitted to it.
std::vector<schedule::QueuedJob> queue_of(const records::StudyFolder& folder) {
  if (records::last_wave(folder) == 0) return {};
  return schedule::slurm::queue(schedule::job_prefix(folder));
}

std::string step_text(const schedule::RunStatus& run) {
  if (run.step_age < 0) return "";
  return fmt::format(
      "step {}{}{}, {} ago{}", run.step, run.steps > 0 ? fmt::format(" of {}", run.steps) : "",
      std::isnan(run.loss) ? "" : fmt::format(", loss {:.4g}", run.loss),
      schedule::clock_text(run.step_age),
      std::isnan(run.seconds_left) ? "" : ", " + schedule::clock_text(run.seconds_left) + " left");
}

std::string as_table(const std::vector<schedule::RunStatus>& runs,
                     const records::StudyProgress& progress) {
  std::map<std::string, int64_t> counts;
  size_t widest = 0;
  for (const auto& run : runs) widest = std::max(widest, run.run.size());
  std::string text;
  for (const auto& run : runs) {
    ++counts[run.state];
    auto line = fmt::format("{:{}}  {:11}", run.run, widest, run.state);
    for (const auto& part :
         {run.where, run.since.empty() ? "" : "since " + run.since,
          run.state == "finished" ? "" : step_text(run),
          run.restarts > 0 ? fmt::format("restarts {}", run.restarts) : "", run.why})
      if (!part.empty()) line += "  " + part;
    text += line + "\n";
  }
  std::string sum;
  for (const auto& [state, count] : counts)
    sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", count, state);
  if (progress.trials.all > 0) sum = records::progress_words(progress) + ": " + sum;
  return text + sum + "\n";
}

/// Whether a process or a job works on the study.
bool is_worked_on(const std::vector<schedule::RunStatus>& runs,
                  const std::vector<schedule::QueuedJob>& queue,
                  const records::StudyFolder& folder) {
  if (!queue.empty()) return true;
  const auto jobs = records::read_wave_jobs(folder.wave(records::last_wave(folder)));
  if (jobs && !jobs->closing.empty()) return false;
  return std::ranges::any_of(runs,
                             [](const schedule::RunStatus& run) { return run.state == "running"; });
}

/// Whether another `ablate run` would go on with the run.
bool is_open(const schedule::RunStatus& run) {
  return run.state == "new" || run.state == "interrupted" || run.state == "lost";
}

void show_status(const StatusRequest& request) {
  const exchange::OpenedStudy opened(request.folder);
  const auto& folder = opened.folder();
  for (int idle = 0;;) {
    const auto queue = queue_of(folder);
    const auto study = records::read_frozen(folder, run::counted_parameters());
    const auto runs = schedule::status_of(study, folder, queue);
    if (request.json)
      for (const auto& run : runs) std::cout << training::to_json(run).dump() << "\n";
    else
      std::cout << as_table(runs, records::progress_of(study, folder));
    std::cout << std::flush;
    idle = is_worked_on(runs, queue, folder) ? 0 : idle + 1;
    if (!request.watch) return;
    if (idle == kIdleLooks || (idle > 0 && std::ranges::none_of(runs, is_open))) {
      if (std::ranges::any_of(runs, is_open))
        std::cerr << "nobody works on this study; repeat its 'ablate run' to continue it\n";
      return;
    }
    std::this_thread::sleep_for(kLookEvery);
    if (!request.json) std::cout << "\n";
  }
}

void cancel(const std::string& name) {
  const auto folder = records::named_study(name);
  std::vector<std::string> closing, arrays;
  for (const auto& job : schedule::slurm::queue(schedule::job_prefix(folder)))
    (job.name.ends_with(schedule::kClosing) ? closing : arrays).push_back(job.array);
  schedule::slurm::cancel(closing);  // first, or it would continue the study
  schedule::slurm::cancel(arrays);
  std::cout << (closing.empty() && arrays.empty()
                    ? "no job of this study is queued\n"
                    : "cancelled; runs save their state, and the study can be launched again\n");
}

}  // namespace

void add_status(CLI::App& app) {
  auto request = std::make_shared<StatusRequest>();
  auto* verb = app.add_subcommand("status", "Show the status of a study's runs");
  verb->add_option("folder", request->folder,
                   "The study's file, its folder, <output>/<study>, or a file of ablate pack")
      ->required();
  verb->add_flag("--json", request->json, "Print one JSON line per run");
  verb->add_flag("--watch", request->watch,
                 "Show it again every 5 seconds until the study is done or nobody works on it");
  verb->footer(
      "Shows for each run its state, where it runs, since when, the last step and loss it logged, "
      "how long ago and how long the rest takes, how often it was started again, and why it failed "
      "or waits. A run is interrupted if it stopped with its state saved, lost if its process is "
      "gone without that, blocked if the run that it starts from has failed, and diverged if it "
      "did and only tries a value for tune. For a study on Slurm it also asks the queue.\n"
      "Examples:\n"
      "  ablate status runs/quickstart\n"
      "  ablate status runs/quickstart --json");
  verb->callback([request] { show_status(*request); });
}

void add_cancel(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  auto* verb = app.add_subcommand("cancel", "End the jobs of a study on Slurm");
  verb->add_option("folder", *folder, "The study's file, or its folder: <output>/<study>")
      ->required();
  verb->footer(
      "Runs that are being trained save their last step, and no further jobs are submitted. Repeat "
      "the 'ablate run' that launched the study to continue it.\n"
      "Example:\n"
      "  ablate cancel runs/quickstart");
  verb->callback([folder] { cancel(*folder); });
}

}  // namespace ablate::commands
