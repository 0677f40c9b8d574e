#include "experiments/schedule/study_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "experiments/records/environment.h"
#include "experiments/records/failure.h"
#include "experiments/records/run_start.h"
#include "experiments/records/wave.h"
#include "experiments/schedule/tuning.h"
#include "training/storage/run_log.h"

namespace ablate::schedule {
namespace {

/// The queued task of each run folder of the last wave.
std::map<std::filesystem::path, const QueuedJob*> tasks_of(const records::StudyFolder& folder,
                                                           const std::vector<QueuedJob>& queue) {
  std::map<std::filesystem::path, const QueuedJob*> tasks;
  const auto wave = folder.wave(records::last_wave(folder));
  const auto jobs = records::read_wave_jobs(wave);
  if (!jobs) return tasks;
  const auto runs = records::read_wave_runs(wave);
  for (const auto& job : queue)
    for (const auto& array : jobs->arrays)
      if (job.array == array.job && job.task >= 0 && job.task < array.tasks)
        tasks[runs[static_cast<size_t>(array.first + job.task)].path] = &job;
  return tasks;
}

void add_step(const records::RunFolder& folder, RunStatus& status) {
  if (!std::filesystem::exists(folder.log())) return;
  for (const auto& line : training::read_run_log(folder.log())) {
    if (const auto step = line.find("step"); step != line.end() && step->is_number_integer())
      status.step = *step;
    if (const auto loss = line.find("loss"); loss != line.end() && loss->is_number())
      status.loss = *loss;
  }
  const auto written = std::filesystem::last_write_time(folder.log()).time_since_epoch();
  const auto now = std::filesystem::file_time_type::clock::now().time_since_epoch();
  status.step_age = std::chrono::duration<double>(now - written).count();
}

void add_job(const QueuedJob& job, RunStatus& status) {
  status.state = job.state == "PENDING" ? "pending" : "running";
  if (job.node.empty())
    status.why = job.reason;
  else
    status.where = job.node + ", job " + job.id;
}

RunStatus status_of(const config::RunSpecification& run, const records::RunFolder& folder,
                    const QueuedJob* job) {
  RunStatus status{.run = records::label(run), .state = records::state_of(folder)};
  if (const auto starts = records::read_starts(folder); !starts.empty()) {
    const auto& last = starts.back();
    status.where = last.host + (last.job.empty() ? "" : ", job " + last.job);
    status.since = last.began;
    status.restarts = std::ssize(starts) - 1;
    if (last.ended && status.state == "started")
      status.why = fmt::format("interrupted, saved at step {}", last.to_step);
    const auto environment = records::recorded_environment(folder);
    if (const auto steps = environment.find("steps"); steps != environment.end())
      status.steps = *steps;
  }
  add_step(folder, status);
  if (const auto failure = records::read_failure(folder)) status.why = records::reason(*failure);
  if (job != nullptr && status.state != "finished") add_job(*job, status);
  return status;
}

/// The run of the same task and seed that this one starts from, if any.
std::optional<std::string> start_of(const config::RunSpecification& run) {
  const auto& arm = run.experiment.training.init_from.arm;
  if (!arm) return {};
  return records::label(run.task, *arm, run.seed);
}

/// `all` tells of `runs`, in their order, in which a run comes after the one that it starts from.
void block(const std::vector<config::RunSpecification>& runs, std::vector<RunStatus>& all) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto start = start_of(runs[i]);
    const auto from = std::ranges::find_if(all, [&](const RunStatus& run) {
      return run.run == start && (run.state == "failed" || run.state == "blocked");
    });
    if (all[i].state != "new" || from == all.end()) continue;
    all[i].state = "blocked";
    all[i].why = "starts from " + from->run + ", which " +
                 (from->state == "failed" ? "has failed" : "is blocked");
  }
}

}  // namespace

std::vector<RunStatus> status_of(const config::Study& study, const records::StudyFolder& folder,
                                 const std::vector<QueuedJob>& queue) {
  const auto tasks = tasks_of(folder, queue);
  auto runs = study.runs;
  std::ranges::move(tuning_stage(study, folder).runs, std::back_inserter(runs));
  std::vector<RunStatus> all;
  for (const auto& run : runs) {
    const auto place = folder.run(run);
    const auto job = tasks.find(place.path);
    all.push_back(status_of(run, place, job == tasks.end() ? nullptr : job->second));
  }
  block(runs, all);
  return all;
}

}  // namespace ablate::schedule
