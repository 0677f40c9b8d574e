#include "experiments/schedule/launch_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

#include "experiments/errors.h"
#include "experiments/schedule/tuning.h"
#include "training/process/interrupt.h"
#include "training/process/machine.h"

namespace ablate::schedule {
namespace {

constexpr std::chrono::milliseconds kAskForStops{200};
constexpr std::chrono::seconds kAskEvery{5};

std::string own_job() {
  const char* job = std::getenv("SLURM_JOB_ID");
  return job == nullptr ? "" : job;
}

/// The study's jobs in the queue, and whether this process is the one that closes a wave.
struct Queue {
  std::vector<QueuedJob> others;
  bool closing = false;
};

Queue look(const Launch& launch) {
  Queue queue{.others = slurm::queue(job_prefix(launch.folder))};
  queue.closing = std::erase_if(queue.others, [](const QueuedJob& job) {
                    return job.id == own_job() && job.name.ends_with(kClosing);
                  }) > 0;
  return queue;
}

void refuse_second(const Queue& queue, const Launch& launch) {
  std::set<std::string> ids;
  for (const auto& job : queue.others) ids.insert(job.array);
  throw UsageError(
      fmt::format("{0} is being worked on by the jobs {1}; see 'ablate status {0}', or end them "
                  "with 'ablate cancel {0}'",
                  launch.folder.path.string(), fmt::join(ids, ", ")));
}

void refuse_other_program(const Launch& launch) {
  const auto jobs = records::read_wave_jobs(launch.folder.wave(records::last_wave(launch.folder)));
  if (!jobs || jobs->program_sha256 == training::program_sha256()) return;
  throw UsageError(
      "ablate was built anew since the last wave was submitted, and a study should not mix "
      "programs; launch the study again to go on all the same");
}

void wait_for_jobs(const Launch& launch) {
  for (auto asked = std::chrono::steady_clock::now();;) {
    if (training::stop_requested())
      throw training::Interrupted(
          "the jobs stay in the queue; launch the study again when they "
          "have ended, or end them with 'ablate cancel " +
          launch.folder.path.string() + "'");
    std::this_thread::sleep_for(kAskForStops);
    if (std::chrono::steady_clock::now() - asked < kAskEvery) continue;
    if (look(launch).others.empty()) return;
    asked = std::chrono::steady_clock::now();
  }
}

std::string announcement(int64_t wave, size_t runs, const Launch& launch) {
  const auto jobs = records::read_wave_jobs(launch.folder.wave(wave));
  std::vector<std::string> ids;
  for (const auto& array : jobs->arrays) ids.push_back(array.job);
  return fmt::format("wave {}: {} runs as job {}{}\n", wave, runs, fmt::join(ids, ", "),
                     jobs->closing.empty() ? "" : ", then job " + jobs->closing);
}

}  // namespace

std::optional<StudyOutcome> launch_study(const config::Study& study, const Launch& launch,
                                         std::ostream& messages) {
  const training::StopRequests requests;
  const auto queue = look(launch);
  if (!queue.closing && !queue.others.empty()) refuse_second(queue, launch);
  if (!queue.closing) clear_earlier_start(study, launch.folder);
  if (queue.closing && !queue.others.empty()) {
    // An earlier start of this job submitted the next wave and was cut off before its end.
    const bool closed = std::ranges::any_of(
        queue.others, [](const QueuedJob& job) { return job.name.ends_with(kClosing); });
    if (!closed) close_wave(records::last_wave(launch.folder), queue.others, launch);
    return {};
  }
  if (queue.closing) refuse_other_program(launch);
  for (bool follows = queue.closing;; follows = true) {
    if (follows) account_for(launch.folder.wave(records::last_wave(launch.folder)));
    const auto runs = next_wave(study, launch.folder, launch.retries);
    if (runs.empty()) return outcome_of(study, launch.folder);
    const auto wave = submit_wave(study, runs, launch);
    messages << announcement(wave, runs.size(), launch) << std::flush;
    if (!launch.waits) return {};
    wait_for_jobs(launch);
  }
}

}  // namespace ablate::schedule
