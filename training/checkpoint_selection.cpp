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

Found newest(const std::filesystem::path& checkpoints) {
  const auto all = list_checkpoints(checkpoints);
  if (all.empty())
    throw CheckpointError(fmt::format("{} holds no checkpoint", checkpoints.string()));
  return all.back();
}

std::string counted(int64_t count) {
  return fmt::format("{} checkpoint{}", count, count == 1 ? "" : "s");
}

SelectedWeights exponential_average(const std::filesystem::path& checkpoints) {
  auto last = load_checkpoint(newest(checkpoints).path);
  return {"exponential average", extract_ema(last.optimizer)};
}

/// Throws CheckpointError unless it is there.
Found regular_checkpoint(const std::filesystem::path& checkpoints, int64_t step,
                         int64_t save_every) {
  const auto all = list_checkpoints(checkpoints);
  const auto found = std::ranges::find(all, step, &Found::step);
  if (found == all.end())
    throw CheckpointError(
        fmt::format("{} lacks step {}, which belongs to an average of the checkpoints that "
                    "training.save_every ({}) names",
                    checkpoints.string(), step, save_every));
  return *found;
}

/// The mean of the last `count` checkpoints that training.save_every names. There may be others
/// between them, depending on when the run was stopped or validated.
SelectedWeights mean_of_last(const std::filesystem::path& checkpoints, int64_t count,
                             const TrainingOptions& options) {
  const auto made = newest(checkpoints).step;
  const auto steps = averaged_steps(made, count, options.save_every);
  if (std::ssize(steps) < count)
    throw CheckpointError(fmt::format(
        "{} cannot give an average of {}: after {} steps a training has {} of those that "
        "training.save_every ({}) names",
        checkpoints.string(), counted(count), made, steps.size(), options.save_every));
  std::vector<Weights> models;
  for (const auto step : steps) {
    const auto found = regular_checkpoint(checkpoints, step, options.save_every);
    models.push_back(merge_adapters(load_checkpoint(found.path).model, options.lora));
  }
  const auto text = count == 1 ? fmt::format("step {}", steps.front())
                               : fmt::format("steps {} to {}", steps.front(), steps.back());
  return {fmt::format("average of {} ({})", counted(count), text), average(models)};
}

SelectedWeights averaged(const std::filesystem::path& checkpoints, const TrainingOptions& options) {
  if (options.ema > 0) return exponential_average(checkpoints);
  return mean_of_last(checkpoints, options.average > 0 ? options.average : options.keep, options);
}

/// The weights of a run that was only evaluated.
SelectedWeights only_weights(const std::filesystem::path& checkpoints) {
  auto only = load_checkpoint(newest(checkpoints).path);
  return {only.state.value(kWeightsRecord, "last"), std::move(only.model)};
}

Checkpoint at_step(const std::filesystem::path& checkpoints, const std::string& which) {
  int64_t step = 0;
  const auto* end = which.data() + which.size();
  const auto parsed = std::from_chars(which.data(), end, step);
  if (parsed.ec != std::errc() || parsed.ptr != end || fmt::format("{}", step) != which)
    throw CheckpointError(
        fmt::format("checkpoint '{}' is not best, last, averaged or a step", which));
  std::string steps;
  for (const auto& found : list_checkpoints(checkpoints)) {
    if (found.step == step) return load_checkpoint(found.path);
    steps += fmt::format(" {}", found.step);
  }
  throw CheckpointError(fmt::format("{} holds no checkpoint of step {}; there are:{}",
                                    checkpoints.string(), step, steps));
}

/// The weights that were validated best.
SelectedWeights best_weights(const std::filesystem::path& checkpoints,
                             const TrainingOptions& options) {
  const auto last = load_checkpoint(newest(checkpoints).path);
  const auto step = last.state.value("best_step", int64_t{0});
  if (step == 0)
    throw CheckpointError(fmt::format("{} has no best checkpoint: set training.evaluate_every",
                                      checkpoints.string()));
  auto best = at_step(checkpoints, std::to_string(step));
  if (options.ema > 0) return {"best", extract_ema(best.optimizer)};
  if (options.average == 0) return {"best", std::move(best.model)};
  return {"best", average_at(checkpoints, {step, std::move(best.model)}, options)};
}

/// As saved, with adapters.
SelectedWeights saved_weights(const std::filesystem::path& checkpoints, const std::string& which,
                              const TrainingOptions& options) {
  const bool follow_options = which.empty();
  if (follow_options && !options.trains()) return only_weights(checkpoints);
  if (which == "best" || (follow_options && options.patience > 0))
    return best_weights(checkpoints, options);
  if (which == "averaged" || (follow_options && (options.average > 0 || options.ema > 0)))
    return averaged(checkpoints, options);
  if (which == "last" || follow_options)
    return {"last", load_checkpoint(newest(checkpoints).path).model};
  return {fmt::format("step {}", which), at_step(checkpoints, which).model};
}

SelectedWeights saved_start(const std::filesystem::path& checkpoints, const InitFromOptions& start,
                            const TrainingOptions& options) {
  if (start.average > 0) return mean_of_last(checkpoints, start.average, options);
  switch (start.weights) {
    case StartWeights::evaluated:
      return saved_weights(checkpoints, "", options);
    case StartWeights::last:
      return saved_weights(checkpoints, "last", options);
    case StartWeights::best:
      return saved_weights(checkpoints, "best", options);
    case StartWeights::ema:
      return exponential_average(checkpoints);
  }
  throw CheckpointError("invalid StartWeights");
}

SelectedWeights merged(SelectedWeights saved, const LoraOptions& lora) {
  return {saved.name, merge_adapters(std::move(saved.weights), lora)};
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
  auto steps = averaged_steps(now.step, options.average, options.save_every);
  if (steps.empty()) steps = {now.step};
  std::vector<Weights> models;
  for (const auto step : steps) {
    auto weights =
        step == now.step
            ? now.weights
            : load_checkpoint(regular_checkpoint(checkpoints, step, options.save_every).path).model;
    for (auto& [name, tensor] : weights) tensor = tensor.detach().cpu();
    models.push_back(merge_adapters(std::move(weights), options.lora));
  }
  return average(models);
}

SelectedWeights select_weights(const std::filesystem::path& checkpoints, const std::string& which,
                               const TrainingOptions& options) {
  return merged(saved_weights(checkpoints, which, options), options.lora);
}

SelectedWeights select_start(const std::filesystem::path& checkpoints, const InitFromOptions& start,
                             const TrainingOptions& options) {
  return merged(saved_start(checkpoints, start, options), options.lora);
}

}  // namespace ablate::training
