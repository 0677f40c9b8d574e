#include "training/checkpoint_selection.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "training/checkpoint/checkpoint.h"
#include "training/ema.h"

namespace ablate::training {
namespace {

Found newest(const std::filesystem::path& checkpoints) {
  const auto all = list_checkpoints(checkpoints);
  if (all.empty())
    throw CheckpointError(fmt::format("{} holds no checkpoint", checkpoints.string()));
  return all.back();
}

SelectedWeights exponential_average(const std::filesystem::path& checkpoints) {
  auto last = load_checkpoint(newest(checkpoints).path);
  return {"exponential average", extract_ema(last.optimizer)};
}

/// The mean of the last `count` checkpoints, of fewer where there are not so many.
SelectedWeights mean_of_last(const std::filesystem::path& checkpoints, int64_t count) {
  auto all = list_checkpoints(checkpoints);
  if (std::ssize(all) > count) all.erase(all.begin(), all.end() - count);
  std::vector<Weights> models;
  for (const auto& found : all) models.push_back(load_checkpoint(found.path).model);
  if (models.empty()) newest(checkpoints);  // which throws
  return {fmt::format("average of {} checkpoint{}", models.size(), models.size() == 1 ? "" : "s"),
          average(models)};
}

SelectedWeights averaged(const std::filesystem::path& checkpoints, const TrainingOptions& options) {
  if (options.ema > 0) return exponential_average(checkpoints);
  return mean_of_last(checkpoints, options.average > 0 ? options.average : options.keep);
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
  if (parsed.ec != std::errc() || parsed.ptr != end)
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

}  // namespace

SelectedWeights select_weights(const std::filesystem::path& checkpoints, const std::string& which,
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

SelectedWeights select_start(const std::filesystem::path& checkpoints, const InitFromOptions& start,
                             const TrainingOptions& options) {
  if (start.average > 0) {
    const auto found = std::ssize(list_checkpoints(checkpoints));
    if (found < start.average)
      throw CheckpointError(fmt::format("{} holds {} checkpoint{}, of which {} cannot be averaged",
                                        checkpoints.string(), found, found == 1 ? "" : "s",
                                        start.average));
    return mean_of_last(checkpoints, start.average);
  }
  switch (start.weights) {
    case StartWeights::evaluated:
      return select_weights(checkpoints, "", options);
    case StartWeights::last:
      return select_weights(checkpoints, "last", options);
    case StartWeights::best:
      return select_weights(checkpoints, "best", options);
    case StartWeights::ema:
      return exponential_average(checkpoints);
  }
  throw CheckpointError("invalid StartWeights");
}

}  // namespace ablate::training
