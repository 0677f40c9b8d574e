#include "experiments/run_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "experiments/exit_code.h"
#include "experiments/process_pool.h"
#include "experiments/run_one.h"
#include "training/interrupt.h"

namespace ablate::experiments {
namespace {

constexpr int kInterrupted = static_cast<int>(ExitCode::interrupted);

struct Sharing {
  int64_t jobs, threads;
};

Sharing share_cores(const Study& study, int64_t jobs) {
  const int64_t cores = available_cores();
  if (jobs == 0) jobs = std::min(cores, static_cast<int64_t>(study.runs.size()));
  return {jobs, std::max<int64_t>(1, cores / jobs)};
}

Job job_of(const StudyOptions& options, const RunSpecification& run, const Sharing& sharing) {
  Job job{options.command};
  for (const auto& [flag, value] : {std::pair{"--tasks", run.task}, std::pair{"--arms", run.arm},
                                    std::pair{"--seeds", std::to_string(run.seed)},
                                    std::pair{"--threads", std::to_string(sharing.threads)},
                                    std::pair{"--jobs", std::to_string(sharing.jobs)}}) {
    job.arguments.emplace_back(flag);
    job.arguments.push_back(value);
  }
  return job;
}

/// 0: starts from no arm; 1: from one that starts from none; and so on.
std::map<std::pair<std::string, std::string>, int> waves(const Study& study) {
  std::map<std::pair<std::string, std::string>, int> wave;
  for (const auto& run : study.runs) {
    const auto& from = run.experiment.training.start.arm;
    const auto before = from ? wave.find({run.task, *from}) : wave.end();
    wave[{run.task, run.arm}] = before == wave.end() ? 0 : before->second + 1;
  }
  return wave;
}

bool interrupted(const Job& job) { return job.exit_code == -1 || job.exit_code == kInterrupted; }

/// Runs the jobs wave by wave: an arm starts when those that it starts from are finished.
void run_in_waves(std::vector<Job>& jobs, const std::vector<const RunSpecification*>& open,
                  const Study& study, int64_t parallel) {
  auto wave = waves(study);
  for (int number = 0, left = static_cast<int>(jobs.size()); left > 0; ++number) {
    std::vector<Job> now;
    std::vector<size_t> from;
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (wave[{open[i]->task, open[i]->arm}] != number) continue;
      now.push_back(jobs[i]);
      from.push_back(i);
    }
    run_jobs(now, parallel);
    for (size_t i = 0; i < now.size(); ++i) jobs[from[i]] = now[i];
    left -= static_cast<int>(now.size());
    if (std::ranges::any_of(now, interrupted)) return;
  }
}

}  // namespace

std::string label(const RunSpecification& run) {
  return fmt::format("{}/{}/seed-{}", run.task, run.arm, run.seed);
}

StudyOutcome run_study(const Study& study, const StudyOptions& options) {
  std::vector<Job> jobs;
  std::vector<const RunSpecification*> open;
  const auto sharing = share_cores(study, options.jobs);
  for (const auto& run : study.runs) {
    if (std::filesystem::exists(run_folder(options.output, study.name, run) / "result.json"))
      continue;
    jobs.push_back(job_of(options, run, sharing));
    open.push_back(&run);
  }
  std::cerr << fmt::format("{}: {} runs, {} to do, {} at a time with {} thread{} each\n",
                           study.name, study.runs.size(), jobs.size(), sharing.jobs,
                           sharing.threads, sharing.threads == 1 ? "" : "s");
  run_in_waves(jobs, open, study, sharing.jobs);
  StudyOutcome outcome;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (interrupted(jobs[i]))
      outcome.interrupted = true;
    else if (jobs[i].exit_code != 0)
      outcome.failed.push_back({label(*open[i]), jobs[i].exit_code});
  }
  return outcome;
}

void raise(const StudyOutcome& outcome) {
  if (!outcome.failed.empty()) {
    std::string list;
    for (const auto& run : outcome.failed)
      list +=
          fmt::format("{}{} (exit code {})", list.empty() ? "" : ", ", run.label, run.exit_code);
    throw RunsFailed(static_cast<ExitCode>(outcome.failed.front().exit_code),
                     "runs that did not finish: " + list);
  }
  if (outcome.interrupted)
    throw training::Interrupted("interrupted and saved; run the same command again to continue");
}

}  // namespace ablate::experiments
