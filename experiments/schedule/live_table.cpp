#include "experiments/schedule/live_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "experiments/config/printable.h"

namespace ablate::schedule {
namespace {

constexpr auto kLineEvery = std::chrono::seconds(30);
constexpr TerminalSize kUsualTerminal{80, 24};

double since(LiveTable::Clock::time_point start) {
  return std::chrono::duration<double>(LiveTable::Clock::now() - start).count();
}

std::string text_of(const training::ProgressRecord& record) {
  if (record.stage == training::Stage::preparing) return "preparing data";
  if (record.stage == training::Stage::evaluating) return "evaluating";
  auto text = fmt::format("step {}/{} {:3}%  loss {:.4f}  {:.0f} tokens/s  {}", record.step,
                          record.steps, 100 * record.step / std::max<int64_t>(1, record.steps),
                          record.loss, record.tokens_per_second, clock_text(record.seconds));
  if (!std::isnan(record.seconds_left)) text += "<" + clock_text(record.seconds_left);
  return text;
}

/// Its first `columns` characters.
std::string cut(const std::string& line, size_t columns) {
  size_t seen = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xc0U) != 0x80U;
    if (begins && seen++ == columns) return line.substr(0, i);
  }
  return line;
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

TerminalSize terminal_size() {
  const char* kind = std::getenv("TERM");
  if (isatty(STDERR_FILENO) == 0 || kind == nullptr || std::string_view(kind) == "dumb") return {};
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? TerminalSize{size.ws_col, size.ws_row} : kUsualTerminal;
}

void LiveTable::start(const std::string& run) { rows_[run] = {}; }

void LiveTable::at(const std::string& run, const training::ProgressRecord& record) {
  auto& row = rows_[run];
  row.record = record;
  const bool last = record.stage == training::Stage::training && record.step == record.steps;
  if (options_.terminal || (!last && Clock::now() - row.shown < kLineEvery)) return;
  row.shown = Clock::now();
  print(run + ": " + text_of(record));
}

void LiveTable::say(const std::string& run, const std::string& message) {
  print(run + ": " + message);
}

void LiveTable::retry(const std::string& run, const std::string& why) {
  rows_.erase(run);
  print(run + ": " + why + "; to be started again");
}

void LiveTable::end(const std::string& run, const std::string& why) {
  const auto row = rows_.extract(run);
  if (row.empty()) return;
  const double seconds = since(row.mapped().started);
  ++ended_;
  seconds_ended_ += seconds;
  if (!why.empty()) ++failed_;
  print(fmt::format("{}: {}, {} ({} of {} runs done)", run, why.empty() ? "finished" : why,
                    clock_text(seconds), options_.finished + ended_ - failed_, options_.runs));
}

void LiveTable::print(std::string text) {
  clear();
  std::ranges::replace(text, '\n', ' ');
  options_.stream << config::printable_line(std::move(text)) + "\n" << std::flush;
}

void LiveTable::clear() {
  if (drawn_ > 0) options_.stream << fmt::format("\033[{}A\033[J", drawn_) << std::flush;
  drawn_ = 0;
}

/// What the running ones have left, and for each that cannot tell yet or waits the mean of the
/// others; NaN where none can tell.
double LiveTable::seconds_left() const {
  double left = 0, known = seconds_ended_;
  auto unknown = options_.runs - options_.finished - ended_ - std::ssize(rows_), tell = ended_;
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
  const auto open = options_.runs - options_.finished - ended_;
  return left / static_cast<double>(std::clamp<int64_t>(open, 1, options_.parallel));
}

std::string LiveTable::summary() const {
  auto line = fmt::format("{} of {} runs done, {} running", options_.finished + ended_ - failed_,
                          options_.runs, rows_.size());
  if (failed_ > 0) line += fmt::format(", {} failed", failed_);
  const double left = seconds_left();
  if (!std::isnan(left)) line += fmt::format("; about {} left", clock_text(left));
  return line;
}

void LiveTable::draw(const TerminalSize& size) {
  if (!options_.terminal || size.columns < 2 || size.rows < 2) return;
  size_t width = 0;
  for (const auto& [run, row] : rows_) width = std::max(width, run.size());
  const auto line = [&](const std::string& text) { return cut(text, size.columns - 1) + "\n"; };
  std::string text;
  size_t lines = 1;
  for (const auto& [run, row] : rows_)
    if (++lines < size.rows)
      text += line(fmt::format("{:<{}}  {}", run, width, text_of(row.record)));
  text += line(summary());
  clear();
  options_.stream << text << std::flush;
  drawn_ = std::min(lines, size.rows - 1);
}

}  // namespace ablate::schedule
