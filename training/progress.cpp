#include "training/progress.h"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace ablate::training {
namespace {

constexpr auto kLineEvery = std::chrono::seconds(30);
constexpr auto kRedrawEvery = std::chrono::milliseconds(200);

std::string clock(double seconds) {
  const auto whole = static_cast<int64_t>(std::max(0.0, seconds));
  std::ostringstream text;
  if (whole >= 3600) text << whole / 3600 << ':' << std::setfill('0') << std::setw(2);
  text << whole / 60 % 60 << ':' << std::setfill('0') << std::setw(2) << whole % 60;
  return text.str();
}

}  // namespace

Progress::Progress(Options options)
    : options_(std::move(options)), start_(Clock::now()), shown_(start_) {}

void Progress::restart(int64_t step) {
  first_step_ = step;
  start_ = shown_ = Clock::now();
  paused_ = {};
  tokens_ = 0;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_ - paused_).count();
}

double Progress::tokens_per_second() const {
  return static_cast<double>(tokens_) / std::max(seconds(), 1e-9);
}

void Progress::pause() { paused_at_ = Clock::now(); }
void Progress::resume() { paused_ += Clock::now() - paused_at_; }

std::string Progress::line(const ProgressPoint& point) const {
  const double done = static_cast<double>(point.step - first_step_);
  const double left = static_cast<double>(options_.steps - point.step);
  std::ostringstream text;
  text << options_.label << ": step " << point.step << '/' << options_.steps << ' '
       << 100 * point.step / options_.steps << "% [" << clock(seconds());
  if (done >= 5) text << '<' << clock(seconds() / done * left);
  text << "] loss " << std::fixed << std::setprecision(4) << point.loss << ", "
       << static_cast<int64_t>(tokens_per_second()) << " tokens/s";
  return text.str();
}

void Progress::at(const ProgressPoint& point) {
  tokens_ += point.tokens;
  const auto now = Clock::now();
  const bool last = point.step == options_.steps;
  if (options_.terminal) {
    if (!last && now - shown_ < kRedrawEvery) return;
    options_.stream << "\r\033[K" << line(point) << std::flush;
    open_line_ = true;
  } else {
    if (!last && now - shown_ < kLineEvery) return;
    options_.stream << line(point) + "\n" << std::flush;
  }
  shown_ = now;
}

void Progress::say(const std::string& message) {
  finish();
  options_.stream << options_.label + ": " + message + "\n" << std::flush;
}

void Progress::finish() {
  if (open_line_) options_.stream << '\n' << std::flush;
  open_line_ = false;
}

}  // namespace ablate::training
