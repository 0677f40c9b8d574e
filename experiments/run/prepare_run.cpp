#include "experiments/run/prepare_run.h"

#include <fmt/format.h>

#include "data/shared_text.h"
#include "experiments/config/schema/option.h"
#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "experiments/records/run_start.h"
#include "experiments/run/load_run.h"
#include "experiments/run/start_model.h"
#include "experiments/run/update_cost.h"
#include "experiments/run/update_time.h"
#include "models/hardware.h"
#include "tokenizer/text/digest.h"
#include "training/device.h"
#include "training/process/machine.h"
#include "training/process/progress.h"

namespace ablate::run {
namespace {

int64_t threads_of(const RunJob& job) {
  if (job.experiment.training.threads) return *job.experiment.training.threads;
  const auto recorded = records::recorded_environment(job.folder);
  return recorded.is_object() ? recorded.value("threads", job.threads) : job.threads;
}

/// The run that training starts from, if any.
std::optional<std::filesystem::path> start_folder(const RunJob& job) {
  const auto& start = job.experiment.training.init_from;
  if (start.run) return std::filesystem::path(job.plan.data_folder) / *start.run;
  if (!start.arm) return {};
  const auto folder = job.folder.of_arm(*start.arm);
  if (records::has_diverged(folder))
    throw UsageError(fmt::format(
        "training.init_from.arm: {} has diverged, which it would do again ({}); choose other "
        "values for the arm '{}' under another name of the study",
        folder.path.string(), records::why_missing(folder), *start.arm));
  if (!std::filesystem::exists(folder.result()))
    throw UsageError(fmt::format("training.init_from.arm: {} is not finished; run the arm '{}' too",
                                 folder.path.string(), *start.arm));
  return folder.path;
}

/// Updates of the run. A budget of time is measured once; later starts keep that number.
int64_t steps_of(const RunJob& job, const Environment& environment, const RunData& data) {
  const auto& options = job.experiment.training;
  if (!options.trains()) return 0;
  if (training::reads_steps(options.budget)) return options.steps;
  auto model = make_model(job.experiment, data.tokenizers);
  choose_trained(*model, options, job.initial_seed());
  if (!training::is_timed(options.budget))
    return run_length(job.experiment, data, *model, 0).updates;
  const auto recorded = records::recorded_environment(job.folder);
  if (recorded.contains("steps")) return recorded.at("steps");
  model->to(environment.device);
  const double seconds = seconds_per_update(job.experiment, data, environment.precision, model);
  return updates_within(options, {}, seconds);
}

/// Throws UsageError if the run would end without the checkpoints of its average.
void check_average(const training::TrainingOptions& options, int64_t steps) {
  const auto made = steps / options.save_every;
  if (options.trains() && options.average > made)
    throw UsageError(
        fmt::format("training.average is {}, and the {} steps of the budget give {} checkpoint{} "
                    "(training.save_every: {}); lower one of the two",
                    options.average, steps, made, made == 1 ? "" : "s", options.save_every));
}

/// Throws UsageError if the run would end before the first validation, by which patience chooses.
void check_validation(const training::TrainingOptions& options, int64_t steps) {
  if (options.trains() && options.patience > 0 && options.evaluate_every > steps)
    throw UsageError(
        fmt::format("training.patience needs a validation, and the {} steps of the budget end "
                    "before the first one (training.evaluate_every: {}); lower evaluate_every",
                    steps, options.evaluate_every));
}

/// Throws DataError if patience would choose weights on the test text; `ablate run` has checked a
/// whole study, but not a run folder whose configuration or files have changed since.
void check_patience(const config::Experiment& experiment, const data::Corpus& corpus) {
  if (experiment.training.patience == 0) return;
  const auto found = data::test_in_validation(corpus, experiment.data);
  if (found)
    throw data::DataError(fmt::format(
        "training.patience would choose weights on the test text: by their content, the test set "
        "'{}' and the validation set are the same, or one is for the most part in the other; {}",
        *found, data::own_test(experiment.data)));
}

/// Throws DataError if a continued run would go on with other data than it began with.
void check_same_data(const records::RunFolder& folder, const data::Corpus& corpus) {
  const auto recorded = records::recorded_environment(folder);
  if (!recorded.contains("data_sha256") || recorded.at("data_sha256") == corpus.sha256) return;
  throw data::DataError(folder.path.string() +
                        " began with other data: their SHA-256 differs; restore them, choose "
                        "another --output or remove that folder");
}

/// Reports that a continued run goes on with another program than it began with.
void note_other_program(const records::RunFolder& folder, std::ostream& messages) {
  const auto starts = records::read_starts(folder);
  if (!starts.empty() && starts.front().program_sha256 != training::program_sha256())
    messages << "this run began with another build of ablate, so it may not end as it would have\n"
             << std::flush;
}

}  // namespace

Environment set_up(const RunJob& job, std::ostream& messages) {
  const auto& options = job.experiment.training;
  const auto device = training::resolve(options.device);
  models::allow_mkl_fast_path(options.mkl_fast_path);
  Environment environment{threads_of(job), device, options.precision,
                          models::mkl_takes_fast_path()};
  if (!training::has_products(options.precision, device)) {
    messages << fmt::format("this {} has no {} products: training in fp32\n",
                            device.is_cuda() ? "GPU" : "processor",
                            config::word_of(options.precision))
             << std::flush;
    environment.precision = training::Precision::fp32;
  }
  at::set_num_threads(static_cast<int>(environment.threads));
  return environment;
}

Prepared prepare(const RunJob& job, std::ostream& messages) {
  const auto environment = set_up(job, messages);
  training::write_record(messages, {.stage = training::Stage::preparing});
  auto start = start_folder(job);
  auto data = read_run_data(job.experiment, job.plan.data_folder, start);
  check_patience(job.experiment, data.corpus);
  const auto steps = steps_of(job, environment, data);
  check_average(job.experiment.training, steps);
  check_validation(job.experiment.training, steps);
  return {environment, std::move(start), std::move(data), steps};
}

void check_continued(const RunJob& job, const Prepared& prepared, std::ostream& messages) {
  check_same_data(job.folder, prepared.data.corpus);
  note_other_program(job.folder, messages);
}

nlohmann::json environment_facts(const RunJob& job, const Prepared& prepared) {
  const auto& environment = prepared.environment;
  nlohmann::json record{{"ablate", ABLATE_VERSION},
                        {"device", environment.device.str()},
                        {"threads", environment.threads},
                        {"precision", config::word_of(environment.precision)},
                        {"mkl_fast_path", environment.mkl_fast_path},
                        {"seed", job.plan.seed},
                        {"steps", prepared.steps},
                        {"data_folder", job.plan.data_folder},
                        {"data_sha256", prepared.data.corpus.sha256},
                        {"source_tokenizer_sha256", prepared.data.tokenizers.source.sha256()},
                        {"target_tokenizer_sha256", prepared.data.tokenizers.target.sha256()}};
  if (const auto& labels = prepared.data.tokenizers.labels)
    record["labels_sha256"] = tokenizer::sha256(labels->to_text());
  if (!prepared.data.vectors.empty()) record["vectors"] = to_json(prepared.data.vectors);
  return record;
}

}  // namespace ablate::run
