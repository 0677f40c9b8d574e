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

/// The last `count` checkpoints that training.save_every names. There may be others between them,
/// depending on when the run was stopped or validated. Throws CheckpointError unless all are there.
std::vector<Found> last_regular(const std::filesystem::path& checkpoints, int64_t count,
                                int64_t save_every) {
  const auto all = list_checkpoints(checkpoints);
  const auto made = newest(checkpoints).step;
  if (made / save_every < count)
    throw CheckpointError(
        fmt::format("{} cannot give an average of {}: after {} steps a training has {} of those "
                    "that training.save_every ({}) names",
                    checkpoints.string(), counted(count), made, made / save_every, save_every));
  std::vector<Found> chosen;
  for (auto step = (made / save_every - count + 1) * save_every; step <= made; step += save_every) {
    const auto found = std::ranges::find(all, step, &Found::step);
    if (found == all.end())
      throw CheckpointError(
          fmt::format("{} lacks step {}, which belongs to the average of the last {} that "
                      "training.save_every ({}) names",
                      checkpoints.string(), step, counted(count), save_every));
    chosen.push_back(*found);
  }
  return chosen;
}

SelectedWeights mean_of_last(const std::filesystem::path& checkpoints, int64_t count,
                             const TrainingOptions& options) {
  const auto chosen = last_regular(checkpoints, count, options.save_every);
  std::vector<Weights> models;
  for (const auto& found : chosen)
    models.push_back(merge_adapters(load_checkpoint(found.path).model, options.lora));
  const auto steps = count == 1
                         ? fmt::format("step {}", chosen.front().step)
                         : fmt::format("steps {} to {}", chosen.front().step, chosen.back().step);
  return {fmt::format("average of {} ({})", counted(count), steps), average(models)};
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

SelectedWeights at_step(const std::filesystem::path& checkpoints, const std::string& which) {
  int64_t step = 0;
  const auto* end = which.data() + which.size();
  const auto parsed = std::from_chars(which.data(), end, step);
  if (parsed.ec != std::errc() || parsed.ptr != end || fmt::format("{}", step) != which)
    throw CheckpointError(
        fmt::format("checkpoint '{}' is not best, last, averaged or a step", which));
  std::string steps;
  for (const auto& found : list_checkpoints(checkpoints)) {
    if (found.step == step)
      return {fmt::format("step {}", step), load_checkpoint(found.path).model};
    steps += fmt::format(" {}", found.step);
  }
  throw CheckpointError(fmt::format("{} holds no checkpoint of step {}; there are:{}",
                                    checkpoints.string(), step, steps));
}

/// As saved, with adapters.
SelectedWeights saved_weights(const std::filesystem::path& checkpoints, const std::string& which,
                              const TrainingOptions& options) {
  const bool follow_options = which.empty();
  if (follow_options && !options.trains()) return only_weights(checkpoints);
  if (which == "averaged" || (follow_options && (options.average > 0 || options.ema > 0)))
    return averaged(checkpoints, options);
  if (which == "best" || (follow_options && options.patience > 0)) {
    const auto last = load_checkpoint(newest(checkpoints).path);
    const auto best = last.state.value("best_step", int64_t{0});
    if (best == 0)
      throw CheckpointError(fmt::format("{} has no best checkpoint: set training.evaluate_every",
                                        checkpoints.string()));
    return {"best", at_step(checkpoints, std::to_string(best)).weights};
  }
  if (which == "last" || follow_options)
    return {"last", load_checkpoint(newest(checkpoints).path).model};
  return at_step(checkpoints, which);
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

SelectedWeights select_weights(const std::filesystem::path& checkpoints, const std::string& which,
                               const TrainingOptions& options) {
  return merged(saved_weights(checkpoints, which, options), options.lora);
}

SelectedWeights select_start(const std::filesystem::path& checkpoints, const InitFromOptions& start,
                             const TrainingOptions& options) {
  return merged(saved_start(checkpoints, start, options), options.lora);
}

}  // namespace ablate::training
