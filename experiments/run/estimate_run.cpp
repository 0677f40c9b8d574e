#include "experiments/run/estimate_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "experiments/run/environment.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/load_run.h"
#include "experiments/run/model_cost.h"
#include "experiments/run/run_data.h"
#include "experiments/run/run_length.h"
#include "training/device.h"
#include "training/likelihood.h"

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

/// Seconds that the evaluation of one test set will take, by a batch of its examples.
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

/// Seconds of all validations and the evaluation.
double scoring_seconds(const config::Experiment& experiment, const RunData& data,
                       models::Transformer& model, int64_t steps) {
  const auto& options = experiment.training;
  const Stopwatch validating;
  training::likelihood(model, data.validation.examples, {options.tokens_per_batch, data.masking()});
  const int64_t validations = 1 + (options.evaluate_every > 0 ? steps / options.evaluate_every : 0);
  double seconds = static_cast<double>(validations) * validating.seconds();
  const training::Translator translator{models::InferenceModel(model), data.tokenizers,
                                        data.format};
  for (const auto& test : data.corpus.tests)
    seconds += evaluation_seconds(translator, test, experiment);
  return seconds;
}

int64_t kept_checkpoints(const training::TrainingOptions& options, int64_t steps) {
  const int64_t best = options.evaluate_every > 0 ? 1 : 0;
  return std::min(options.keep + best, (steps + options.save_every - 1) / options.save_every);
}

int64_t weight_bytes(int64_t parameters) {
  return parameters * static_cast<int64_t>(sizeof(float));
}

int64_t checkpoint_bytes(const training::TrainingOptions& options, int64_t parameters) {
  constexpr int64_t kWeightAndMoments = 3;
  const int64_t average = options.ema > 0 ? 1 : 0;
  return weight_bytes(parameters) * (kWeightAndMoments + average);
}

}  // namespace

records::RunEstimate estimate_run(const RunJob& job, std::ostream& messages) {
  const Stopwatch watch;
  const auto environment = set_up(job, messages);
  const auto& options = job.experiment.training;
  std::optional<std::filesystem::path> start;
  if (options.init_from.run)
    start = std::filesystem::path(job.plan.data_folder) / *options.init_from.run;
  const auto data = read_run_data(job.experiment, job.plan.data_folder, start);
  auto model = make_model(job.experiment, data.tokenizers);
  models::initialize(*model, static_cast<uint64_t>(job.plan.seed));
  const auto cost = update_cost(job.experiment, data, *model);
  model->to(environment.device);
  records::RunEstimate estimate{.parameters = models::parameter_count(*model),
                                .active_parameters = active_parameter_count(*model),
                                .seconds = watch.seconds(),
                                .notes = shortfalls(job.experiment, data)};
  if (options.trains()) {
    const double update = seconds_per_update(job.experiment, data, environment.precision, model);
    estimate.steps = updates_within(options, cost, update);
    estimate.flops = static_cast<double>(estimate.steps) * cost.flops;
    estimate.seconds += static_cast<double>(estimate.steps) * update;
  }
  estimate.seconds += scoring_seconds(job.experiment, data, model, estimate.steps);
  estimate.memory_bytes = training::peak_memory(environment.device);
  estimate.disk_bytes = options.trains() ? kept_checkpoints(options, estimate.steps) *
                                               checkpoint_bytes(options, estimate.parameters)
                                         : weight_bytes(estimate.parameters);
  estimate.calibration_seconds = watch.seconds();
  return estimate;
}

}  // namespace ablate::run
