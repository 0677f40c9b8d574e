#include "experiments/schedule/run_study.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "experiments/records/run_plan.h"
#include "experiments/schedule/process_pool.h"
#include "experiments/schedule/shared_gpu.h"
#include "experiments/schedule/study_status.h"
#include "experiments/schedule/worker.h"
#include "training/process/interrupt.h"
#include "training/process/machine.h"
#include "training/storage/durable_file.h"

namespace ablate::schedule {
namespace {

constexpr std::chrono::milliseconds kLookAround{200};
// Between two lines of a run, for someone who watches and for a file that is kept.
constexpr std::chrono::seconds kLineEvery{30}, kLineOnTerminal{5};

/// "1 thread", "2 threads", or both if runs that name their number differ.
std::string threads_text(const config::Study& study, int64_t shared) {
  std::set<int64_t> numbers;
  for (const auto& run : study.runs)
    numbers.insert(run.experiment.training.threads.value_or(shared));
  if (numbers.empty()) numbers.insert(shared);
  const auto least = *numbers.begin(), most = *numbers.rbegin();
  if (least != most) return fmt::format("{} to {} threads", least, most);
  return fmt::format("{} thread{}", least, least == 1 ? "" : "s");
}

/// Whether the run trains on a GPU.
bool on_gpu(const config::RunSpecification& run, bool has_gpu) {
  const auto device = run.experiment.training.device;
  return device == training::Device::cuda || (device == training::Device::automatic && has_gpu);
}

bool is_interruption(int exit_code) { return meaning_of(exit_code) == ExitCode::interrupted; }

/// A run that has no result yet.
struct OpenRun {
  enum class State { waiting, running, ended };

  const config::RunSpecification* run;
  Attempts attempts;
  State state = State::waiting;
  training::GpuMemory gpu = {};  // its report; zeros: not yet
};

class StudyRunner {
 public:
  StudyRunner(const config::Study& study, const StudyOptions& options,
              const records::StudyProgress& before)
      : study_(study), options_(options), before_(before), sharing_(share_cores(study, options)) {
    for (const auto& run : study.runs) {
      check_ranks(run.experiment, options.ranks);
      const auto folder = options.folder.run(run);
      if (is_done(folder)) {
        training::remove_leftover_files(folder.path);  // of a process killed after the result
        continue;
      }
      records::check_plan(folder, run);
      open_.push_back({&run, Attempts(folder, {.retries = options.retries})});
    }
    const bool searching = before.trials.ended < before.trials.all;
    std::cerr << fmt::format(
        "{}: {}, {} to do{}, {}{} at a time with {} each\n", study.name,
        searching ? records::progress_words(before) : fmt::format("{} runs", before.runs.all),
        open_.size(), searching ? " now" : "", sharing_.gpu && sharing_.jobs > 1 ? "at most " : "",
        sharing_.jobs, threads_text(study, sharing_.worker.threads));
  }

  StudyOutcome run() {
    ProgressLines lines({.stream = std::cerr,
                         .before = before_,
                         .parallel = sharing_.jobs,
                         .every = isatty(STDERR_FILENO) == 1 ? kLineOnTerminal : kLineEvery});
    for (;;) {
      if (training::stop_requested())
        pool_.stop();
      else
        start_what_may(lines);
      if (pool_.running() == 0) break;
      for (const auto& event : pool_.wait(kLookAround))
        std::visit([&](const auto& one) { take(one, lines); }, event);
    }
    return outcome();
  }

 private:
  void start_what_may(ProgressLines& lines) {
    while (!full_ && static_cast<int64_t>(pool_.running()) < sharing_.jobs) {
      const auto index = next();
      if (!index) return;
      start(*index);
      lines.start(records::label(*open_[*index].run), open_[*index].run->trial);
    }
  }

  /// The run to start now; one that crashed comes after the others, since memory may be short only
  /// while others run.
  std::optional<size_t> next() const {
    std::optional<size_t> best;
    for (size_t i = 0; i < open_.size(); ++i) {
      if (open_[i].state != OpenRun::State::waiting || waits(open_[i]) || is_blocked(open_[i]) ||
          !has_room(open_[i]))
        continue;
      if (!best || open_[i].attempts.made() < open_[*best].attempts.made()) best = i;
    }
    return best;
  }

  /// The run among the open ones that this one starts from; null if there is none.
  const OpenRun* start_of(const OpenRun& open) const {
    const auto& from = open.run->experiment.training.init_from.arm;
    const auto found = std::ranges::find_if(open_, [&](const OpenRun& other) {
      return from && other.run->arm == *from && other.run->task == open.run->task &&
             other.run->seed == open.run->seed;
    });
    return found == open_.end() ? nullptr : &*found;
  }

  /// Whether the run that this one starts from may still finish.
  bool waits(const OpenRun& open) const {
    const auto* from = start_of(open);
    return from != nullptr && from->state != OpenRun::State::ended;
  }

  /// Whether the run that this one starts from has failed, or is blocked itself.
  bool is_blocked(const OpenRun& open) const {
    const auto* from = start_of(open);
    if (from == nullptr) return false;
    if (from->state != OpenRun::State::ended) return is_blocked(*from);
    return from->attempts.exit_code() != 0 && !is_interruption(from->attempts.exit_code());
  }

  bool uses_gpu(const OpenRun& open) const { return on_gpu(*open.run, options_.has_gpu); }
  bool has_room(const OpenRun& open) const { return !uses_gpu(open) || gpu_.has_room(*open.run); }

  void start(size_t index) {
    auto& open = open_[index];
    open.state = OpenRun::State::running;
    if (uses_gpu(open)) gpu_.start(*open.run);
    records::write_plan(options_.folder.run(*open.run), study_, *open.run);
    pool_.start(index, open.attempts.begin(sharing_.worker));
  }

  void take(const ProcessLine& line, ProgressLines& lines) {
    auto& open = open_[line.job];
    if (const auto record = training::read_record(line.text)) {
      if (record->gpu.total > 0) open.gpu = record->gpu;
      return lines.at(records::label(*open.run), *record);
    }
    open.attempts.on_output_line(line.text);
    lines.say(records::label(*open.run), line.text);
  }

  void take(const ProcessEnd& end, ProgressLines& lines) {
    auto& open = open_[end.job];
    const auto label = records::label(*open.run);
    open.state = OpenRun::State::ended;
    if (uses_gpu(open)) gpu_.end(*open.run, open.gpu);
    switch (open.attempts.end(end.exit_code)) {
      case Attempts::End::finished:
        return lines.end(label, "");
      case Attempts::End::interrupted:
        return lines.end(label, "interrupted");
      case Attempts::End::crashed:
        open.state = OpenRun::State::waiting;
        return lines.retry(label, open.attempts.reason(false));
      case Attempts::End::failed:
        lines.end(label, "failed with " + open.attempts.reason(true));
        if (!full_ && open.attempts.found_no_room())
          lines.say(study_.name, "no further run is started, since there is no room for it");
        full_ = full_ || open.attempts.found_no_room();
    }
  }

  StudyOutcome outcome() const {
    StudyOutcome outcome;
    for (const auto& open : open_) {
      const bool ended = open.state == OpenRun::State::ended;
      if (!ended && is_blocked(open)) continue;
      if (!ended || is_interruption(open.attempts.exit_code()))
        outcome.interrupted = true;
      else if (open.attempts.exit_code() != 0)
        outcome.failed.push_back({records::label(*open.run), open.attempts.exit_code()});
    }
    return outcome;
  }

  const config::Study& study_;
  const StudyOptions& options_;
  const records::StudyProgress before_;
  Sharing sharing_;
  std::vector<OpenRun> open_;
  ProcessPool pool_;
  SharedGpu gpu_;
  bool full_ = false;  // the disk
};

}  // namespace

Sharing share_cores(const config::Study& study, const StudyOptions& options) {
  const int64_t cores = training::available_cores();
  const bool gpu = std::ranges::any_of(
      study.runs, [&](const auto& run) { return on_gpu(run, options.has_gpu); });
  auto jobs = options.jobs;
  if (jobs == 0)
    jobs = gpu ? 1
               : std::clamp<int64_t>(std::ssize(study.runs), 1,
                                     std::max<int64_t>(1, cores / options.ranks));
  if (options.threads) return {jobs, gpu, {*options.threads, options.ranks}};
  const auto seeds = std::max<int64_t>(1, std::ssize(study.declared_seeds));
  const auto all = std::ssize(study.configurations) * seeds;
  return {jobs, gpu, {std::max<int64_t>(1, cores / std::max<int64_t>(1, all)), options.ranks}};
}

bool is_done(const records::RunFolder& folder) { return std::filesystem::exists(folder.result()); }

StudyOutcome run_study(const config::Study& study, const StudyOptions& options,
                       const records::StudyProgress& before) {
  return StudyRunner(study, options, before).run();
}

void raise(const StudyOutcome& outcome) {
  if (!outcome.failed.empty()) {
    std::string list;
    auto worst = meaning_of(outcome.failed.front().exit_code);
    for (const auto& run : outcome.failed) {
      list +=
          fmt::format("{}{} ({})", list.empty() ? "" : ", ", run.label,
                      run.why.empty() ? records::reason({.exit_code = run.exit_code}) : run.why);
      worst = more_serious(worst, meaning_of(run.exit_code));
    }
    throw RunsFailed(worst, "runs that did not finish: " + list);
  }
  if (outcome.interrupted)
    throw training::Interrupted("interrupted and saved; run the same command again to continue");
}

}  // namespace ablate::schedule
