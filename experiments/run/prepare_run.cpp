#include "experiments/run/prepare_run.h"

#include <fmt/format.h>

#include "experiments/errors.h"
#include "experiments/records/environment.h"
#include "experiments/run/load_run.h"
#include "experiments/run/run_length.h"
#include "training/process/progress.h"

namespace ablate::run {
namespace {

/// The run that training starts from, if any.
std::optional<std::filesystem::path> start_folder(const RunJob& job) {
  const auto& start = job.experiment.training.init_from;
  if (start.run) return std::filesystem::path(job.plan.data_folder) / *start.run;
  if (!start.arm) return {};
  const auto folder = job.folder.of_arm(*start.arm);
  if (!std::filesystem::exists(folder.result()))
    throw UsageError(
        fmt::format("training.init_from.arm: {} is not finished; run the arm '{}' too",
                    folder.path.string(), *start.arm));
  return folder.path;
}

/// Updates of the run. A budget of time is measured once; later starts keep that number.
int64_t steps_of(const RunJob& job, const Environment& environment, const RunData& data) {
  const auto& options = job.experiment.training;
  if (!options.trains()) return 0;
  if (std::holds_alternative<training::StepBudget>(options.budget)) return options.steps;
  auto model = make_model(job.experiment, data.tokenizers);
  const auto cost = update_cost(job.experiment, data, *model);
  if (!std::holds_alternative<training::TimeBudget>(options.budget))
    return updates_within(options, cost, 0);
  const auto recorded = records::recorded_environment(job.folder);
  if (recorded.contains("steps")) return recorded.at("steps");
  model->to(environment.device);
  const double seconds = seconds_per_update(job.experiment, data, environment.precision, model);
  return updates_within(options, cost, seconds);
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

}  // namespace

Prepared prepare(const RunJob& job, std::ostream& messages) {
  const auto environment = set_up(job, messages);
  training::write_record(messages, {.stage = training::Stage::preparing});
  auto start = start_folder(job);
  auto data = read_run_data(job.experiment, job.plan.data_folder, start);
  const auto steps = steps_of(job, environment, data);
  check_average(job.experiment.training, steps);
  return {environment, std::move(start), std::move(data), steps};
}

}  // namespace ablate::run
