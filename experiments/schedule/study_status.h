#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/schedule/slurm.h"
#include "options/members.h"
#include "training/process/progress.h"

namespace ablate::schedule {

/// The status of one run.
struct RunStatus {
  std::string run;    // task/arm/seed-n
  std::string state;  // as records::state_of(), or pending, blocked
  std::string where;  // the host, and the scheduler's job; empty before the first start
  std::string since;  // when it was started last, in UTC
  int64_t step = 0;   // the last that it logged
  int64_t steps = 0;  // that it is to make; 0: not known before it starts
  double loss = std::numeric_limits<double>::quiet_NaN();  // the last that it logged
  double step_age = -1;  // seconds since then; -1: no step was logged
  double seconds_left = std::numeric_limits<double>::quiet_NaN();  // of its training, if it runs
  int64_t restarts = 0;                                            // starts after the first
  std::string why;  // it failed, is blocked, was interrupted, or waits in the queue

  ABLATE_FIELDS(run, state, where, since, step, steps, loss, step_age, seconds_left, restarts, why)
};

/// The status of the runs of a study, including candidates of `tune`, by its folders and the
/// scheduler's queue. A new one is blocked if the run that it starts from has failed or is blocked.
std::vector<RunStatus> status_of(const config::Study& study, const records::StudyFolder& folder,
                                 const std::vector<QueuedJob>& queue);

/// Prints the progress of a study's runs in whole lines, one for each message and end of a run, and
/// for each run at most one of its steps in the time `every`. A study that runs already is shown by
/// status_of().
class ProgressLines {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::ostream& stream;
    records::StudyProgress before;  // of the whole study
    int64_t parallel = 1;
    Clock::duration every = std::chrono::seconds(30);
    std::function<Clock::time_point()> now = Clock::now;
  };
  explicit ProgressLines(Options options) : options_(std::move(options)), now_(options_.before) {}

  /// `trial`: it belongs to a search.
  void start(const std::string& run, bool trial = false);
  void at(const std::string& run, const training::ProgressRecord& record);
  /// A message of a run.
  void say(const std::string& run, const std::string& message);
  /// The run will be started again.
  void retry(const std::string& run, const std::string& why);
  /// `why` is empty if the run has finished.
  void end(const std::string& run, const std::string& why);

 private:
  struct Row {
    training::ProgressRecord record;
    Clock::time_point started, shown;
    bool trial;
  };
  double since(Clock::time_point start) const;
  double seconds_left() const;
  int64_t open() const;

  Options options_;
  std::map<std::string, Row> rows_;  // of the running runs
  records::StudyProgress now_;
  int64_t ended_ = 0, failed_ = 0;
  double seconds_ended_ = 0;  // that the ended runs took
};

/// 12:03, 1:02:03
std::string clock_text(double seconds);

}  // namespace ablate::schedule
