#include "experiments/run/run_estimate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "experiments/errors.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/load_run.h"
#include "experiments/run/model_cost.h"
#include "experiments/run/prepare_run.h"
#include "experiments/run/run_data.h"
#include "experiments/run/start_model.h"
#include "experiments/run/update_cost.h"
#include "experiments/run/update_time.h"
#include "training/checkpoint_selection.h"
#include "training/device.h"
#include "training/likelihood.h"
#include "training/optimizer.h"
#include "training/trained_parts.h"

namespace ablate::run {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Estimated seconds of the evaluation of one test set, from a batch of its examples.
double evaluation_seconds(const training::Translator& translator, data::TestSet test,
                          config::Experiment experiment) {
  const auto all = static_cast<double>(test.examples.size());
  const auto rows = static_cast<size_t>(experiment.decoding.batch);
  if (test.examples.size() > rows) test.examples.resize(rows);
  const auto encoded = translator.format.encode(test.examples, translator.tokenizers);
  double tokens = 0;
  for (const auto& example : encoded.examples)
    tokens +=
        static_cast<double>(example.target.size() - static_cast<size_t>(example.prompt_length));
  auto& decoding = experiment.decoding;
  const auto length = std::llround(tokens / static_cast<double>(encoded.examples.size()));
  decoding.max_length = std::clamp<int64_t>(length, 1, decoding.max_length);
  decoding.min_length = decoding.max_length - 1;
  const auto sampled = static_cast<double>(test.examples.size());
  const Stopwatch watch;
  evaluate(translator, {std::move(test)}, experiment);
  return watch.seconds() * all / sampled;
}

/// Seconds of all validations.
double validation_seconds(const config::Experiment& experiment, const RunData& data,
                          models::Transformer& model, int64_t steps) {
  const auto& options = experiment.training;
  const Stopwatch watch;
  training::likelihood(model, data.validation.examples, {options.tokens_per_batch, data.masking()});
  const int64_t validations = 1 + (options.evaluate_every > 0 ? steps / options.evaluate_every : 0);
  return static_cast<double>(validations) * watch.seconds();
}

double test_seconds(const config::Experiment& experiment, const RunData& data,
                    models::Transformer& model) {
  double seconds = 0;
  const training::Translator translator{models::InferenceModel(model), data.tokenizers,
                                        data.format};
  for (const auto& test : data.corpus.tests)
    seconds += evaluation_seconds(translator, test, experiment);
  return seconds;
}

/// The newest of save_every, the last one, and those of the last validation, taken for the best.
int64_t kept_checkpoints(const training::TrainingOptions& options, int64_t steps) {
  std::set<int64_t> kept{steps};
  const int64_t made = steps / options.save_every;
  for (int64_t i = 0; i < std::min(options.keep, made); ++i)
    kept.insert((made - i) * options.save_every);
  if (options.evaluate_every > 0 && steps >= options.evaluate_every) {
    const auto best = steps - steps % options.evaluate_every;
    kept.insert(best);
    for (const auto step : training::averaged_steps(best, options.average, options.save_every))
      kept.insert(step);
  }
  return std::ssize(kept);
}

int64_t weight_bytes(int64_t parameters) {
  return parameters * static_cast<int64_t>(sizeof(float));
}

int64_t checkpoint_bytes(const training::TrainingOptions& options,
                         const models::TransformerImpl& model, int64_t parameters) {
  const int64_t average = options.ema > 0 ? 1 : 0;
  auto bytes = weight_bytes(parameters * (1 + average));
  const auto optimizer = training::make_optimizer(options.optimizer, model, options.lr_multipliers);
  for (const auto& [name, tensor] : optimizer->state())
    bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

/// The data and the model of a run that is only estimated.
struct Planned {
  RunData data;
  models::Transformer model;
};

Planned planned(const RunJob& job) {
  const auto& from = job.experiment.training.init_from.run;
  std::optional<std::filesystem::path> start;
  if (from) start = std::filesystem::path(job.plan.data_folder) / *from;
  auto data = read_run_data(job.experiment, job.plan.data_folder, start);
  auto model = make_model(job.experiment, data.tokenizers);
  choose_trained(*model, job.experiment.training, job.initial_seed());
  return {std::move(data), std::move(model)};
}

/// An estimate without seconds and memory; `update` is the time of an update in seconds.
records::RunEstimate counted(const config::Experiment& experiment, const Planned& run,
                             double update) {
  const auto& options = experiment.training;
  records::RunEstimate estimate{.parameters = models::parameter_count(*run.model),
                                .active_parameters = active_parameter_count(*run.model),
                                .trained_parameters = training::trained_parameter_count(*run.model),
                                .notes = shortfalls(experiment, run.data)};
  if (options.trains()) {
    const auto length = run_length(experiment, run.data, *run.model, update);
    estimate.steps = length.updates;
    estimate.flops = static_cast<double>(length.updates) * length.cost.flops;
  }
  const auto checkpoints = options.trains() ? kept_checkpoints(options, estimate.steps) : 1;
  estimate.disk_bytes =
      options.trains() ? checkpoints * checkpoint_bytes(options, *run.model, estimate.parameters)
                       : weight_bytes(estimate.parameters);
  return estimate;
}

}  // namespace

records::RunEstimate estimate_run(const RunJob& job, std::ostream& messages) {
  const Stopwatch watch;
  const auto environment = set_up(job, messages);
  const auto& options = job.experiment.training;
  auto run = planned(job);
  models::initialize(*run.model, job.initial_seed());
  run.model->to(environment.device);
  const double preparation = watch.seconds();
  const double update = options.trains() ? seconds_per_update(job.experiment, run.data,
                                                              environment.precision, run.model)
                                         : 0;
  auto estimate = counted(job.experiment, run, update);
  const double validating = validation_seconds(job.experiment, run.data, run.model, estimate.steps);
  if (options.lora.given()) {  // whose adapters are merged
    run.model = make_model(job.experiment, run.data.tokenizers);
    models::initialize(*run.model, job.initial_seed());
    run.model->to(environment.device);
  }
  estimate.test_seconds = test_seconds(job.experiment, run.data, run.model);
  estimate.seconds = preparation + static_cast<double>(estimate.steps) * update + validating +
                     estimate.test_seconds;
  estimate.memory_bytes = training::peak_memory(environment.device);
  estimate.calibration_seconds = watch.seconds();
  return estimate;
}

records::RunEstimate count_run(const RunJob& job) {
  const Stopwatch watch;
  at::set_num_threads(static_cast<int>(job.threads));
  if (training::is_timed(job.experiment.training.budget))
    throw UsageError(
        "training.budget is in seconds, and only timed updates tell how many steps that is; leave "
        "out --launcher to time them on this machine");
  auto estimate = counted(job.experiment, planned(job), 0);
  estimate.seconds = estimate.test_seconds = std::numeric_limits<double>::quiet_NaN();
  estimate.calibration_seconds = watch.seconds();
  return estimate;
}

}  // namespace ablate::run
