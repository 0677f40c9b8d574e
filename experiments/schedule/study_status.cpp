#include "experiments/schedule/study_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "experiments/config/yaml/problem.h"
#include "experiments/records/failure.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/run_start.h"
#include "experiments/records/tuned_arms.h"
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
  double pace = std::numeric_limits<double>::quiet_NaN();  // seconds a step, over all starts
  for (const auto& line : training::read_run_log(folder.log())) {
    if (const auto step = line.find("step"); step != line.end() && step->is_number_integer())
      status.step = *step;
    if (const auto loss = line.find("loss"); loss != line.end() && loss->is_number())
      status.loss = *loss;
    if (const auto seconds = line.find("seconds"); seconds != line.end() && seconds->is_number())
      pace = seconds->get<double>() / static_cast<double>(std::max<int64_t>(1, status.step));
  }
  if (status.state == "running" && status.steps > 0)
    status.seconds_left = pace * static_cast<double>(status.steps - status.step);
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

RunStatus status_of(const config::RunSpecification& run, const records::StudyFolder& study,
                    const QueuedJob* job) {
  const auto folder = study.run(run);
  RunStatus status{.run = records::label(run), .state = records::state_of(run, study)};
  if (const auto starts = records::read_starts(folder); !starts.empty()) {
    const auto& last = starts.back();
    status.where = last.host + (last.job.empty() ? "" : ", job " + last.job);
    status.since = last.began;
    status.restarts = std::ssize(starts) - 1;
    if (status.state == "interrupted") status.why = fmt::format("saved at step {}", last.to_step);
    if (status.state == "lost") status.why = "its process is gone; it continues from its last save";
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

/// `all` is the status of `runs`, in their order, in which a run comes after the one that it starts
/// from.
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
  std::vector<config::RunSpecification> runs;
  for (auto& search : records::searches(study, folder)) {
    std::ranges::move(search.ended, std::back_inserter(runs));
    std::ranges::move(search.open, std::back_inserter(runs));
  }
  std::ranges::move(records::with_best_values(study, folder).runs, std::back_inserter(runs));
  std::vector<RunStatus> all;
  for (const auto& run : runs) {
    const auto job = tasks.find(folder.run(run).path);
    all.push_back(status_of(run, folder, job == tasks.end() ? nullptr : job->second));
    if (!run.waits.empty()) all.back().why = run.waits;
  }
  block(runs, all);
  return all;
}

namespace {

std::string text_of(const training::ProgressRecord& record) {
  if (record.stage == training::Stage::preparing) return "preparing data";
  if (record.stage == training::Stage::evaluating) return "evaluating";
  auto text = fmt::format("step {}/{} {:3}%  loss {:.4f}  {:.0f} tokens/s  {}", record.step,
                          record.steps, 100 * record.step / std::max<int64_t>(1, record.steps),
                          record.loss, record.tokens_per_second, clock_text(record.seconds));
  if (!std::isnan(record.seconds_left)) text += "<" + clock_text(record.seconds_left);
  return text;
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

void ProgressLines::start(const std::string& run, bool trial) {
  const auto now = options_.now();
  rows_[run] = {.record = {}, .started = now, .shown = now, .trial = trial};
}

double ProgressLines::since(Clock::time_point start) const {
  return std::chrono::duration<double>(options_.now() - start).count();
}

void ProgressLines::at(const std::string& run, const training::ProgressRecord& record) {
  auto& row = rows_.at(run);
  row.record = record;
  const bool last = record.stage == training::Stage::training && record.step == record.steps;
  if (!last && options_.now() - row.shown < options_.every) return;
  row.shown = options_.now();
  say(run, text_of(record));
}

void ProgressLines::say(const std::string& run, const std::string& message) {
  auto line = run + ": " + message;
  std::ranges::replace(line, '\n', ' ');
  options_.stream << config::printable_line(std::move(line)) + "\n" << std::flush;
}

void ProgressLines::retry(const std::string& run, const std::string& why) {
  rows_.erase(run);
  say(run, why + "; to be started again");
}

void ProgressLines::end(const std::string& run, const std::string& why) {
  const auto row = rows_.extract(run);
  if (row.empty()) return;
  const double seconds = since(row.mapped().started);
  ++ended_;
  seconds_ended_ += seconds;
  if (why.empty())
    ++(row.mapped().trial ? now_.trials : now_.runs).ended;
  else
    ++failed_;
  const double left = seconds_left();
  say(run,
      fmt::format("{}, {} ({}{})", why.empty() ? "finished" : why, clock_text(seconds),
                  records::progress_words(now_),
                  open() > 0 && !std::isnan(left) ? "; about " + clock_text(left) + " left" : ""));
}

/// The runs that have not ended yet.
int64_t ProgressLines::open() const {
  const auto of = [](const records::RunCount& count) { return count.all - count.ended; };
  return of(now_.trials) + of(now_.runs) - failed_;
}

/// The remaining time of all runs, with the mean of the known ones for runs that wait or have no
/// estimate yet; NaN if no run has one.
double ProgressLines::seconds_left() const {
  double left = 0, known = seconds_ended_;
  auto unknown = open() - std::ssize(rows_), tell = ended_;
  for (const auto& [run, row] : rows_) {
    const bool trains = row.record.stage == training::Stage::training;
    const double own = trains ? row.record.seconds_left : 0;
    if (row.record.stage == training::Stage::preparing || std::isnan(own)) {
      ++unknown;
      continue;
    }
    ++tell;
    left += own;
    known += since(row.started) + own;
  }
  if (tell == 0) return std::numeric_limits<double>::quiet_NaN();
  left += known / static_cast<double>(tell) * static_cast<double>(unknown);
  return left / static_cast<double>(std::clamp<int64_t>(open(), 1, options_.parallel));
}

}  // namespace ablate::schedule
