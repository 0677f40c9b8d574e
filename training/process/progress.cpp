#include "training/process/progress.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "training/storage/finite_json.h"

namespace ablate::training {
namespace {

constexpr char kRecordSeparator = '\x1e';
constexpr auto kRecordEvery = std::chrono::milliseconds(200);
constexpr int64_t kFirstEstimate = 5;  // steps before the first estimate of the remaining time

}  // namespace

NLOHMANN_JSON_SERIALIZE_ENUM(Stage, {{Stage::preparing, "preparing"},
                                     {Stage::training, "training"},
                                     {Stage::evaluating, "evaluating"}})

void write_record(std::ostream& stream, const ProgressRecord& record) {
  stream << kRecordSeparator + to_json(record).dump() + "\n" << std::flush;
}

std::optional<ProgressRecord> read_record(std::string_view line) {
  if (line.empty() || line.front() != kRecordSeparator) return {};
  const auto json = parse_json(line.substr(1));
  if (!json.is_object()) return {};
  try {
    return from_json<ProgressRecord>(json);
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

Progress::Progress(Options options) : options_(options), start_(Clock::now()), shown_(start_) {}

void Progress::restart(int64_t step) {
  first_step_ = step;
  start_ = Clock::now();
  shown_ = {};
  paused_ = {};
  tokens_ = 0;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_ - paused_).count();
}

double Progress::tokens_per_second() const {
  return static_cast<double>(tokens_) / std::max(seconds(), 1e-9);
}

void Progress::pause() {
  if (pauses_++ == 0) paused_at_ = Clock::now();
}

void Progress::resume() {
  if (--pauses_ == 0) paused_ += Clock::now() - paused_at_;
}

void Progress::at(const ProgressPoint& point) {
  tokens_ += point.tokens;
  const auto now = Clock::now();
  if (point.step != options_.steps && now - shown_ < kRecordEvery) return;
  shown_ = now;
  const int64_t done = point.step - first_step_;
  const double left = static_cast<double>(options_.steps - point.step);
  write_record(
      options_.stream,
      {.stage = Stage::training,
       .step = point.step,
       .steps = options_.steps,
       .loss = point.loss,
       .tokens_per_second = tokens_per_second(),
       .seconds = seconds(),
       .seconds_left = done < kFirstEstimate ? std::numeric_limits<double>::quiet_NaN()
                                             : seconds() / static_cast<double>(done) * left});
}

void Progress::say(const std::string& message) { options_.stream << message + "\n" << std::flush; }

}  // namespace ablate::training
