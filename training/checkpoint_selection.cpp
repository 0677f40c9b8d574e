#include "training/checkpoint_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "training/checkpoint/checkpoint.h"
#include "training/trained_parts.h"

namespace ablate::training {
namespace {

/// How weights are made of checkpoints: taken from one, their mean, or the exponential average that
/// one holds.
enum class Kind { saved, mean, exponential };

/// Which weights of a run are taken.
struct Selection {
  std::string name;  // empty: as the checkpoint records
  Kind kind = Kind::saved;
  std::vector<int64_t> steps;
};

/// The checkpoints of a run with these options.
struct Checkpoints {
  const std::filesystem::path& folder;
  const TrainingOptions& options;
  std::vector<Found> all = list_checkpoints(folder);
};

int64_t newest(const Checkpoints& run) {
  if (run.all.empty())
    throw CheckpointError(fmt::format("{} holds no checkpoint", run.folder.string()));
  return run.all.back().step;
}

/// Throws CheckpointError if there is none of this step.
Checkpoint load(const Checkpoints& run, int64_t step, Kind kind) {
  std::string steps;
  for (const auto& found : run.all) {
    if (found.step == step) return load_checkpoint(found.path);
    steps += fmt::format(" {}", found.step);
  }
  if (kind == Kind::mean)
    throw CheckpointError(
        fmt::format("{} lacks step {}, which belongs to an average of the checkpoints that "
                    "training.save_every ({}) names",
                    run.folder.string(), step, run.options.save_every));
  throw CheckpointError(fmt::format("{} holds no checkpoint of step {}; there are:{}",
                                    run.folder.string(), step, steps));
}

/// The mean of the last `count` checkpoints that training.save_every names. There may be others
/// between them, depending on when the run was stopped or validated.
Selection mean_of_last(const Checkpoints& run, int64_t count) {
  const auto wanted = fmt::format("{} checkpoint{}", count, count == 1 ? "" : "s");
  const auto made = newest(run);
  const auto steps = averaged_steps(made, count, run.options.save_every);
  if (std::ssize(steps) < count)
    throw CheckpointError(fmt::format(
        "{} cannot give an average of {}: after {} steps a training has {} of those that "
        "training.save_every ({}) names",
        run.folder.string(), wanted, made, steps.size(), run.options.save_every));
  const auto text = count == 1 ? fmt::format("step {}", steps.front())
                               : fmt::format("steps {} to {}", steps.front(), steps.back());
  return {fmt::format("average of {} ({})", wanted, text), Kind::mean, steps};
}

Selection exponential_average(const Checkpoints& run) {
  return {"exponential average", Kind::exponential, {newest(run)}};
}

Selection averaged(const Checkpoints& run) {
  if (run.options.ema > 0) return exponential_average(run);
  return mean_of_last(run, run.options.average > 0 ? run.options.average : run.options.keep);
}

/// The steps whose mean is evaluated at `step`.
std::vector<int64_t> averaged_at(int64_t step, const TrainingOptions& options) {
  auto steps = averaged_steps(step, options.average, options.save_every);
  if (steps.empty()) steps = {step};
  return steps;
}

/// The weights that were validated best.
Selection best(const Checkpoints& run) {
  const auto step = load(run, newest(run), Kind::saved).state.value("best_step", int64_t{0});
  if (step == 0)
    throw CheckpointError(
        fmt::format("{} has no best checkpoint: set training.evaluate_every", run.folder.string()));
  if (run.options.ema > 0) return {"best", Kind::exponential, {step}};
  if (run.options.average == 0) return {"best", Kind::saved, {step}};
  return {"best", Kind::mean, averaged_at(step, run.options)};
}

Selection last(const Checkpoints& run) { return {"last", Kind::saved, {newest(run)}}; }

/// Those that the run was evaluated with.
Selection evaluated(const Checkpoints& run) {
  const auto& options = run.options;
  if (!options.trains()) return {"", Kind::saved, {newest(run)}};
  if (options.patience > 0) return best(run);
  return options.average > 0 || options.ema > 0 ? averaged(run) : last(run);
}

Selection chosen(const Checkpoints& run, const std::string& which) {
  if (which.empty()) return evaluated(run);
  if (which == "best") return best(run);
  if (which == "averaged") return averaged(run);
  if (which == "last") return last(run);
  int64_t step = 0;
  std::from_chars(which.data(), which.data() + which.size(), step);
  if (fmt::format("{}", step) != which)
    throw CheckpointError(
        fmt::format("checkpoint '{}' is not best, last, averaged or a step", which));
  return {fmt::format("step {}", which), Kind::saved, {step}};
}

Selection chosen(const Checkpoints& run, const InitFromOptions& start) {
  if (start.average > 0) return mean_of_last(run, start.average);
  if (start.weights == StartWeights::last) return last(run);
  if (start.weights == StartWeights::best) return best(run);
  return start.weights == StartWeights::ema ? exponential_average(run) : evaluated(run);
}

SelectedWeights selected(const Checkpoints& run, const auto& which) {
  auto selection = chosen(run, which);
  std::vector<Weights> models;
  for (const auto step : selection.steps) {
    auto checkpoint = load(run, step, selection.kind);
    if (selection.name.empty()) selection.name = checkpoint.state.value(kWeightsRecord, "last");
    auto weights = selection.kind == Kind::exponential ? extract_ema(checkpoint.optimizer)
                                                       : std::move(checkpoint.model);
    models.push_back(merge_adapters(std::move(weights), run.options.lora));
  }
  auto weights = selection.kind == Kind::mean ? average(models) : std::move(models.front());
  require_finite(weights, fmt::format("{} ({})", run.folder.string(), selection.name));
  return {selection.name, std::move(weights)};
}

}  // namespace

std::vector<int64_t> averaged_steps(int64_t steps, int64_t count, int64_t save_every) {
  const auto made = steps / save_every;
  std::vector<int64_t> chosen;
  for (auto i = std::max<int64_t>(0, made - count) + 1; i <= made; ++i)
    chosen.push_back(i * save_every);
  return chosen;
}

Weights average_at(const std::filesystem::path& checkpoints, const StepWeights& now,
                   const TrainingOptions& options) {
  const Checkpoints run{checkpoints, options};
  std::vector<Weights> models;
  for (const auto step : averaged_at(now.step, options)) {
    auto weights = step == now.step ? now.weights : load(run, step, Kind::mean).model;
    for (auto& [name, tensor] : weights) tensor = tensor.detach().cpu();
    models.push_back(merge_adapters(std::move(weights), options.lora));
  }
  return average(models);
}

SelectedWeights select_weights(const std::filesystem::path& checkpoints, const std::string& which,
                               const TrainingOptions& options) {
  return selected({checkpoints, options}, which);
}

SelectedWeights select_start(const std::filesystem::path& checkpoints, const InitFromOptions& start,
                             const TrainingOptions& options) {
  return selected({checkpoints, options}, start);
}

}  // namespace ablate::training
