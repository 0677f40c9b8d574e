#include "experiments/records/source_run.h"

#include <fmt/format.h>

#include "experiments/config/start_check.h"
#include "experiments/errors.h"
#include "experiments/records/run_plan.h"
#include "training/storage/checkpoint_error.h"

namespace ablate::records {
namespace {

constexpr int kRunDepth = 2;  // of task/arm/seed-n

/// A run's folder of the study in `path`; empty where there is none.
std::filesystem::path some_run(const std::filesystem::path& path) {
  if (!std::filesystem::exists(StudyFolder(path).study())) return {};
  for (std::filesystem::recursive_directory_iterator at(path), end; at != end; ++at) {
    if (at.depth() == kRunDepth && std::filesystem::exists(RunFolder(at->path()).config()))
      return at->path();
    if (at.depth() == kRunDepth) at.disable_recursion_pending();
  }
  return {};
}

}  // namespace

void require_run(const RunFolder& folder) {
  if (std::filesystem::exists(folder.config())) return;
  const auto& path = folder.path;
  if (!std::filesystem::exists(path))
    throw training::CheckpointError("there is no run folder " + path.string());
  const auto run = some_run(path);
  if (!run.empty())
    throw training::CheckpointError(
        fmt::format("{} is the folder of a study; name one of its runs, such as {}", path.string(),
                    run.string()));
  throw training::CheckpointError(path.string() +
                                  " is no run folder: it holds no config.yaml (a run folder is "
                                  "<output>/<study>/<task>/<arm>/seed-<n>)");
}

void check_start(const RunFolder& folder, const config::Experiment& own) {
  require_run(folder);
  for (const auto& [key, why] : config::start_problems(own, planned_experiment(folder)))
    throw UsageError(fmt::format("training.init_from.{} {} ({})", key, why, folder.path.string()));
}

}  // namespace ablate::records
