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

SelectedWeights averaged(const std::filesystem::path& checkpoints, const TrainingOptions& options) {
  if (options.ema > 0) {
    auto last = load_checkpoint(newest(checkpoints).path);
    return {"exponential average", extract_ema(last.optimizer)};
  }
  auto all = list_checkpoints(checkpoints);
  const auto count = static_cast<size_t>(options.average > 0 ? options.average : options.keep);
  if (all.size() > count) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(count));
  std::vector<Weights> models;
  for (const auto& found : all) models.push_back(load_checkpoint(found.path).model);
  return {fmt::format("average of {} checkpoints", models.size()), average(models)};
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

}  // namespace ablate::training
