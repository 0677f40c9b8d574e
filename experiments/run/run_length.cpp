#include "experiments/run/run_length.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "data/batch_stream.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/model_cost.h"
#include "models/random.h"
#include "training/update.h"

namespace ablate::run {
namespace {

constexpr int64_t kCountedBatches = 256;
constexpr int64_t kUntimedUpdates = 2, kFewestTimed = 3;
constexpr double kTimedSeconds = 1;
constexpr double kMostUpdates = 1e9;

data::BatchStream batches_of(const config::Experiment& experiment, const RunData& data) {
  return {data.train.examples,
          {.tokens_per_batch = experiment.training.tokens_per_batch,
           .seed = models::derive_seed(kDataSeed, "order"),
           .start = {},
           .augmentation = data.augmentation(kDataSeed)}};
}

/// Updates that fit into a budget.
struct Fitting {
  const training::TrainingOptions& options;
  const UpdateCost& cost;
  double seconds;

  double operator()(const training::StepBudget&) const {
    return static_cast<double>(options.steps);
  }
  double operator()(const training::TokenBudget& budget) const {
    return std::max(1.0, static_cast<double>(budget.tokens) / cost.tokens);
  }
  double operator()(const training::FlopBudget& budget) const {
    return std::max(1.0, budget.flops / cost.flops);
  }
  double operator()(const training::TimeBudget& budget) const {
    return std::max(1.0, budget.seconds / seconds);
  }
};

}  // namespace

UpdateCost update_cost(const config::Experiment& experiment, const RunData& data,
                       const models::TransformerImpl& model) {
  auto stream = batches_of(experiment, data);
  UpdateCost sum;
  for (int64_t i = 0; i < kCountedBatches; ++i) {
    const auto batch = stream.next();
    sum.tokens += static_cast<double>(batch.tokens);
    sum.flops += 3 * models::forward_flops(model.options(), model.vocabulary(), extent_of(batch));
  }
  const double batches = static_cast<double>(experiment.training.accumulate) / kCountedBatches;
  return {.tokens = batches * sum.tokens, .flops = batches * sum.flops};
}

double seconds_per_update(const config::Experiment& experiment, const RunData& data,
                          training::Precision precision, models::Transformer model) {
  const auto& options = experiment.training;
  const auto optimizer = training::make_optimizer(options.optimizer, *model, options.rates);
  auto stream = batches_of(experiment, data);
  const auto now = std::chrono::steady_clock::now;
  auto start = now();
  const auto seconds = [&] { return std::chrono::duration<double>(now() - start).count(); };
  for (int64_t step = 0;; ++step) {
    if (step == kUntimedUpdates) start = now();
    const auto timed = step - kUntimedUpdates;
    if (timed >= kFewestTimed && (seconds() >= kTimedSeconds || timed >= options.steps))
      return seconds() / static_cast<double>(timed);
    std::vector<data::Batch> batches;
    for (int64_t i = 0; i < options.accumulate; ++i) batches.push_back(stream.next());
    training::update(model, *optimizer, batches,
                     {.learning_rate = 1e-9,
                      .label_smoothing = options.label_smoothing,
                      .clip = options.clip,
                      .dropout = experiment.model.dropout,
                      .dropout_seed = static_cast<uint64_t>(step),
                      .precision = precision});
  }
}

int64_t updates_within(const training::TrainingOptions& options, const UpdateCost& cost,
                       double seconds) {
  const auto updates = std::visit(Fitting{options, cost, seconds}, options.budget);
  return static_cast<int64_t>(std::min(updates, kMostUpdates));
}

}  // namespace ablate::run
