#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>

#include "training/process/progress.h"

namespace ablate::schedule {

struct TerminalSize {
  size_t columns = 0, rows = 0;
};

/// The terminal behind standard error; zeros where there is none that can redraw.
TerminalSize terminal_size();

/// Shows how the runs of a study stand: on a terminal a line for each running one and a summary,
/// redrawn; elsewhere whole lines, of each run at most one every 30 seconds besides messages.
class LiveTable {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::ostream& stream;
    bool terminal;
    int64_t runs;          // of the study
    int64_t finished = 0;  // before now
    int64_t parallel = 1;
  };
  explicit LiveTable(Options options) : options_(options) {}
  /// Leaves what is said, not what was redrawn.
  ~LiveTable() { clear(); }
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  void start(const std::string& run);
  void at(const std::string& run, const training::ProgressRecord& record);
  /// A message of a run.
  void say(const std::string& run, const std::string& message);
  /// The run will be started again.
  void retry(const std::string& run, const std::string& why);
  /// `why` is empty where the run has finished.
  void end(const std::string& run, const std::string& why);

  /// Draws the rows anew on a terminal of this size.
  void draw(const TerminalSize& size);

 private:
  struct Row {
    training::ProgressRecord record;
    Clock::time_point started = Clock::now(), shown = started;
  };
  void clear();
  void print(std::string text);
  std::string summary() const;
  double seconds_left() const;

  Options options_;
  std::map<std::string, Row> rows_;  // of the running runs
  size_t drawn_ = 0;                 // lines on the terminal that the next drawing replaces
  int64_t ended_ = 0, failed_ = 0;
  double seconds_ended_ = 0;  // that the ended runs took
};

/// 12:03, 1:02:03
std::string clock_text(double seconds);

}  // namespace ablate::schedule
