#include "experiments/schedule/run_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "experiments/records/exit_code.h"
#include "experiments/records/failure.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/rung.h"
#include "experiments/schedule/live_table.h"
#include "experiments/schedule/process_pool.h"
#include "training/process/interrupt.h"
#include "training/process/machine.h"

namespace ablate::schedule {
namespace {

constexpr std::chrono::milliseconds kRedrawEvery{200};
constexpr std::string_view kError = "ablate: ";

/// "1 thread", "2 threads", or both where runs that name their number differ.
std::string threads_text(const config::Study& study, int64_t shared) {
  std::set<int64_t> numbers;
  for (const auto& run : study.runs)
    numbers.insert(run.experiment.training.threads.value_or(shared));
  if (numbers.empty()) numbers.insert(shared);
  const auto least = *numbers.begin(), most = *numbers.rbegin();
  if (least != most) return fmt::format("{} to {} threads", least, most);
  return fmt::format("{} thread{}", least, least == 1 ? "" : "s");
}

/// Whether the run trains on a GPU, of whose memory it would leave little to others.
bool on_gpu(const config::RunSpecification& run, bool has_gpu) {
  const auto device = run.experiment.training.device;
  return device == training::Device::cuda || (device == training::Device::automatic && has_gpu);
}

/// A run that has no result yet.
struct OpenRun {
  enum class State { waiting, running, ended };

  const config::RunSpecification* run;
  records::RunFolder folder;
  State state = State::waiting;
  int64_t attempts = 0;
  int exit_code = -1;   // -1: has not ended
  std::string message;  // the last error that it told, or its last line
  bool told_error = false;
};

class StudyRunner {
 public:
  StudyRunner(const config::Study& study, const StudyOptions& options)
      : study_(study), options_(options), sharing_(share_cores(study, options)) {
    for (const auto& run : study.runs) {
      const auto folder = options.folder.run(run);
      if (is_done(run, folder)) continue;
      records::write_plan(folder, study, run);
      open_.push_back({&run, folder});
    }
    std::cerr << fmt::format("{}: {} runs, {} to do, {} at a time with {} each\n", study.name,
                             study.runs.size(), open_.size(), sharing_.jobs,
                             threads_text(study, sharing_.threads));
  }

  StudyOutcome run() {
    const auto total = std::ssize(study_.runs);
    LiveTable table({.stream = std::cerr,
                     .terminal = terminal_size().columns > 0,
                     .runs = total,
                     .finished = total - std::ssize(open_),
                     .parallel = sharing_.jobs});
    for (;;) {
      if (training::stop_requested())
        pool_.stop();
      else
        start_what_may(table);
      if (pool_.running() == 0) break;
      for (const auto& event : pool_.wait(kRedrawEvery))
        std::visit([&](const auto& one) { take(one, table); }, event);
      table.draw(terminal_size());
    }
    return outcome();
  }

 private:
  void start_what_may(LiveTable& table) {
    while (static_cast<int64_t>(pool_.running()) < sharing_.jobs) {
      const auto index = next();
      if (!index) return;
      start(*index);
      table.start(records::label(*open_[*index].run));
    }
  }

  /// The run to start now; one that crashed comes after those that have not, since memory may be
  /// short only beside others.
  std::optional<size_t> next() const {
    std::optional<size_t> best;
    for (size_t i = 0; i < open_.size(); ++i) {
      if (open_[i].state != OpenRun::State::waiting || waits(open_[i])) continue;
      if (!best || open_[i].attempts < open_[*best].attempts) best = i;
    }
    return best;
  }

  /// Whether the run that this one starts from may still finish.
  bool waits(const OpenRun& open) const {
    const auto& from = open.run->experiment.training.init_from.arm;
    return from && std::ranges::any_of(open_, [&](const OpenRun& other) {
             return other.run->arm == *from && other.run->task == open.run->task &&
                    other.run->seed == open.run->seed && other.state != OpenRun::State::ended;
           });
  }

  void start(size_t index) {
    auto& open = open_[index];
    records::remove_failure(open.folder);
    open.message.clear();
    open.told_error = false;
    open.state = OpenRun::State::running;
    ++open.attempts;
    auto command = train_command(open.folder, sharing_.threads);
    if (open.run->until)
      command.insert(command.end(), {"--until", std::to_string(*open.run->until)});
    pool_.start(index, command);
  }

  void take(const ProcessLine& line, LiveTable& table) {
    auto& open = open_[line.job];
    if (const auto record = training::read_record(line.text))
      return table.at(records::label(*open.run), *record);
    std::ofstream(open.folder.messages(), std::ios::app) << line.text + "\n";
    table.say(records::label(*open.run), line.text);
    // An error may go on over several lines; other messages are one.
    if (line.text.starts_with(kError)) {
      open.message = line.text.substr(kError.size());
      open.told_error = true;
    } else {
      open.message = open.told_error ? open.message + "\n" + line.text : line.text;
    }
  }

  void take(const ProcessEnd& end, LiveTable& table) {
    auto& open = open_[end.job];
    open.exit_code = end.exit_code;
    open.state = OpenRun::State::ended;
    if (end.exit_code == 0) return table.end(records::label(*open.run), "");
    if (records::meaning_of(end.exit_code) == records::ExitCode::interrupted)
      return table.end(records::label(*open.run), "interrupted");
    const records::RunFailure failure{open.exit_code, open.attempts, open.message};
    if (records::worth_retrying(end.exit_code) && open.attempts <= options_.retries) {
      open.state = OpenRun::State::waiting;
      return table.retry(records::label(*open.run), records::reason(failure));
    }
    records::write_failure(open.folder, failure);
    table.end(records::label(*open.run),
              "failed with " + records::reason({failure.exit_code, failure.attempts}));
  }

  StudyOutcome outcome() const {
    StudyOutcome outcome;
    for (const auto& open : open_) {
      const bool ended = open.state == OpenRun::State::ended;
      if (!ended || records::meaning_of(open.exit_code) == records::ExitCode::interrupted)
        outcome.interrupted = true;
      else if (open.exit_code != 0)
        outcome.failed.push_back({records::label(*open.run), open.exit_code});
    }
    return outcome;
  }

  const config::Study& study_;
  const StudyOptions& options_;
  Sharing sharing_;
  std::vector<OpenRun> open_;
  ProcessPool pool_;
};

}  // namespace

Sharing share_cores(const config::Study& study, const StudyOptions& options) {
  const int64_t cores = training::available_cores();
  const bool gpu = std::ranges::any_of(
      study.runs, [&](const auto& run) { return on_gpu(run, options.has_gpu); });
  auto jobs = options.jobs;
  if (jobs == 0) jobs = gpu ? 1 : std::clamp<int64_t>(std::ssize(study.runs), 1, cores);
  const auto seeds = std::max<int64_t>(1, std::ssize(study.declared_seeds));
  const auto all = std::ssize(study.configurations) * seeds;
  return {jobs, std::max<int64_t>(1, cores / std::max<int64_t>(1, all))};
}

std::vector<std::string> train_command(const records::RunFolder& folder, int64_t threads) {
  return {"/proc/self/exe", "train", folder.path.string(), "--threads", std::to_string(threads)};
}

bool is_done(const config::RunSpecification& run, const records::RunFolder& folder) {
  return std::filesystem::exists(folder.result()) ||
         (run.until && records::read_rung(folder, *run.until));
}

StudyOutcome run_study(const config::Study& study, const StudyOptions& options) {
  return StudyRunner(study, options).run();
}

void raise(const StudyOutcome& outcome) {
  if (!outcome.failed.empty()) {
    std::string list;
    auto worst = records::meaning_of(outcome.failed.front().exit_code);
    for (const auto& run : outcome.failed) {
      list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", run.label,
                          records::reason({.exit_code = run.exit_code}));
      worst = records::more_serious(worst, records::meaning_of(run.exit_code));
    }
    throw records::RunsFailed(worst, "runs that did not finish: " + list);
  }
  if (outcome.interrupted)
    throw training::Interrupted("interrupted and saved; run the same command again to continue");
}

}  // namespace ablate::schedule
