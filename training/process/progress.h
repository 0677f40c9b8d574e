#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "options/members.h"

namespace ablate::training {

/// Progress of a training run after one update.
struct ProgressPoint {
  int64_t step;
  double loss;  // per token, in nats
  int64_t tokens;
};

enum class Stage { preparing, training, evaluating };

/// Memory of a GPU, in bytes.
struct GpuMemory {
  int64_t needed = 0, total = 0;

  ABLATE_FIELDS(needed, total)
};

/// The progress of a run.
struct ProgressRecord {
  Stage stage = Stage::preparing;
  int64_t step = 0, steps = 0;
  double loss = 0;
  double tokens_per_second = 0;
  double seconds = 0;       // of training since this process took over
  double seconds_left = 0;  // of training; NaN: not known yet
  GpuMemory gpu = {};       // at the end of a run on a GPU, otherwise zeros

  ABLATE_FIELDS(stage, step, steps, loss, tokens_per_second, seconds, seconds_left, gpu)
};

/// Writes the record as one line for a program: a record separator and a JSON object (RFC 7464),
/// which no message for people begins with.
void write_record(std::ostream& stream, const ProgressRecord& record);

/// The record in `line`, without its end; nullopt if it is a message or damaged.
std::optional<ProgressRecord> read_record(std::string_view line);

/// Follows a training run: a record at most five times a second and at the last step.
class Progress {
 public:
  struct Options {
    std::ostream& stream;
    int64_t steps;
  };
  explicit Progress(Options options);

  /// Counts steps, tokens and time from here.
  void restart(int64_t step);

  void at(const ProgressPoint& point);
  /// A message on its own line.
  void say(const std::string& message);
  /// Target tokens per second since the first step, evaluation and saving excluded.
  double tokens_per_second() const;
  /// Time since the first step, without that between `pause` and `resume`.
  double seconds() const;
  /// Time until the matching `resume` is not training time; pairs may be nested.
  void pause();
  void resume();

 private:
  using Clock = std::chrono::steady_clock;

  Options options_;
  int64_t first_step_ = 0;
  Clock::time_point start_, shown_;
  Clock::time_point paused_at_;
  Clock::duration paused_{};
  int64_t pauses_ = 0;  // begun and not ended
  int64_t tokens_ = 0;
};

}  // namespace ablate::training
