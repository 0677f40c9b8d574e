#include <fmt/format.h>

#include <cmath>
#include <variant>

#include "experiments/config/study/study_notes.h"

namespace ablate::config {
namespace {

constexpr double kMuch = 0.01;  // share of the initial weights in an average

void note_average(const training::TrainingOptions& options, int64_t steps,
                  std::vector<std::string>& notes) {
  if ((options.trains() && options.average == 1) || options.init_from.average == 1)
    notes.emplace_back("the average of one checkpoint is that checkpoint");
  if (options.trains() && options.average > 0 && steps % options.save_every != 0)
    notes.push_back(
        fmt::format("the average is only of checkpoints of training.save_every ({}), so the last "
                    "step, {}, is not in it",
                    options.save_every, steps));
}

/// The average starts at the initial weights, without bias correction.
void note_ema(const training::TrainingOptions& options, int64_t steps,
              std::vector<std::string>& notes) {
  const double left =
      options.trains() && options.ema > 0 ? std::pow(options.ema, static_cast<double>(steps)) : 0;
  if (left >= kMuch)
    notes.push_back(
        fmt::format("after {} steps the exponential average (training.ema: {}) still has {:.3g} % "
                    "of the initial weights, since its start is not corrected",
                    steps, options.ema, 100 * left));
}

void note_warmup(const training::TrainingOptions& options, int64_t steps,
                 std::vector<std::string>& notes) {
  const auto warmup = std::visit([](const training::Warmup& schedule) { return schedule.warmup; },
                                 options.schedule);
  if (options.trains() && steps >= 1 && warmup > steps)
    notes.push_back(
        fmt::format("the warm-up takes {} steps and the run {}, so the learning rate never reaches "
                    "its peak (training.schedule.warmup)",
                    warmup, steps));
  if (options.trains() && steps > 1 && warmup == steps)
    notes.push_back(
        fmt::format("the warm-up takes all {} steps of the run, so the learning rate only rises "
                    "(training.schedule.warmup)",
                    steps));
}

}  // namespace

std::vector<std::string> training_notes(const training::TrainingOptions& options, int64_t steps) {
  std::vector<std::string> notes;
  note_average(options, steps, notes);
  note_ema(options, steps, notes);
  note_warmup(options, steps, notes);
  return notes;
}

}  // namespace ablate::config
