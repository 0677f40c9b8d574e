#include "experiments/run/update_time.h"

#include <chrono>
#include <cstdint>
#include <vector>

#include "experiments/run/update_cost.h"
#include "models/initialization.h"
#include "training/graphs/pass_graphs.h"
#include "training/optimizer.h"
#include "training/schedule.h"
#include "training/update.h"

namespace ablate::run {
namespace {

constexpr int64_t kUntimedUpdates = 2, kFewestTimed = 3;
constexpr double kTimedSeconds = 1;

}  // namespace

double seconds_per_update(const config::Experiment& experiment, const RunData& data,
                          training::Precision precision, models::Transformer model) {
  const auto& options = experiment.training;
  models::initialize(*model, /*seed=*/1);  // an update that is not finite leaves the step out
  const auto optimizer =
      training::make_optimizer(options.optimizer, *model, options.lr_multipliers);
  const auto graphs = training::make_graphs(model, options, precision);
  auto stream = counted_batches(experiment, data);
  const auto now = std::chrono::steady_clock::now;
  std::chrono::duration<double> seconds{};
  for (int64_t step = 0;; ++step) {
    const auto timed = step - kUntimedUpdates;
    if (timed >= kFewestTimed && (seconds.count() >= kTimedSeconds || timed >= options.steps))
      return seconds.count() / static_cast<double>(timed) * training::mean_batches(options) /
             static_cast<double>(options.accumulate) * training::mean_passes(options);
    auto start = now();
    std::vector<data::Batch> batches;
    for (int64_t i = 0; i < options.accumulate; ++i) batches.push_back(stream.next());
    auto update_options =
        training::update_options(options, experiment.model, options.steps / 2 + 1);
    update_options.learning_rate = 1e-9;
    update_options.curvature = false;
    update_options.dropout_seed = static_cast<uint64_t>(step);
    update_options.precision = precision;
    update_options.graphs = graphs.get();
    const auto update = [&] { training::update(model, *optimizer, batches, update_options); };
    if (graphs) {  // which an update of the same sizes records, as most of a training's find them
      update();
      start = now();
    }
    update();
    if (timed >= 0) seconds += now() - start;
  }
}

}  // namespace ablate::run
