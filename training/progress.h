#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace ablate::training {

/// What a progress line shows of a training run.
struct ProgressPoint {
  int64_t step;
  double loss;  // per token, in nats
  int64_t tokens;
};

/// Shows progress: one line that rewrites itself on a terminal, otherwise a whole line every 30
/// seconds and at the end.
class Progress {
 public:
  struct Options {
    std::ostream& stream;
    bool terminal;
    std::string label;
    int64_t steps;
  };
  explicit Progress(Options options);

  /// Counts steps, tokens and time from here.
  void restart(int64_t step);

  void at(const ProgressPoint& point);
  /// A message on a line of its own.
  void say(const std::string& message);
  void finish();
  /// Target tokens per second since the first step, evaluation and saving excluded.
  double tokens_per_second() const;
  /// Time since the first step, without that between `pause` and `resume`.
  double seconds() const;
  /// Time until the matching `resume` is not training time.
  void pause();
  void resume();

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(const ProgressPoint& point) const;

  Options options_;
  int64_t first_step_ = 0;
  Clock::time_point start_, shown_;
  Clock::time_point paused_at_;
  Clock::duration paused_{};
  int64_t tokens_ = 0;
  bool open_line_ = false;
};

}  // namespace ablate::training
