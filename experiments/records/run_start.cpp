#include "experiments/records/run_start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/config/study/start_check.h"
#include "experiments/errors.h"
#include "experiments/records/run_plan.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"

namespace ablate::records {

std::vector<RunStart> read_starts(const RunFolder& folder) {
  const auto recorded = recorded_environment(folder);
  if (!recorded.is_object() || !recorded.contains("starts")) return {};
  std::vector<RunStart> starts;
  try {
    for (const auto& start : recorded.at("starts"))
      starts.push_back(training::from_json<RunStart>(start));
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return starts;
}

std::string hardware_of(const std::vector<RunStart>& starts) {
  std::set<std::string> kinds;
  for (const auto& start : starts)
    kinds.insert(start.gpu.empty() ? fmt::format("{} ({})", start.processor, start.cpu_capability)
                                   : start.gpu);
  return fmt::format("{}", fmt::join(kinds, "; "));
}

nlohmann::json recorded_environment(const RunFolder& folder) {
  const auto file = folder.environment();
  if (!std::filesystem::exists(file)) return nullptr;
  return training::read_sealed_json(file, "; remove it to continue the run without it");
}

std::filesystem::path data_folder_of(const std::filesystem::path& run, const std::string& given) {
  if (!given.empty()) return given;
  const auto recorded = recorded_environment(run);
  if (!recorded.is_object() || !recorded.contains("data_folder")) return ".";
  const auto& folder = recorded.at("data_folder");
  if (!folder.is_string())
    throw training::CheckpointError(RunFolder(run).environment().string() +
                                    " is damaged: its data_folder is not a text");
  return folder.get<std::string>();
}

std::vector<RunFolder> runs_in(const std::filesystem::path& folder) {
  constexpr int kRunDepth = 2;  // of task/arm/seed-n
  std::vector<RunFolder> runs;
  if (!std::filesystem::exists(StudyFolder(folder).study())) return runs;
  for (std::filesystem::recursive_directory_iterator at(folder), end; at != end; ++at) {
    if (at.depth() != kRunDepth) continue;
    at.disable_recursion_pending();
    if (const RunFolder run(at->path()); std::filesystem::exists(run.config())) runs.push_back(run);
  }
  std::ranges::sort(runs, {}, &RunFolder::path);
  return runs;
}

void require_run(const RunFolder& folder) {
  const auto& path = folder.path;
  if (std::filesystem::exists(path / "manifest.json"))  // and a copy of the configuration
    throw training::CheckpointError(
        fmt::format("{} is a checkpoint, not a run folder; give its run, {}", path.string(),
                    std::filesystem::weakly_canonical(path).parent_path().parent_path().string()));
  if (std::filesystem::exists(folder.config())) return;
  if (!std::filesystem::exists(path))
    throw training::CheckpointError("there is no run folder " + path.string());
  if (is_study_file(path))
    throw training::CheckpointError(
        fmt::format("{0} is a study's file; name one of its runs, which `ablate run {0} --list` "
                    "lists",
                    path.string()));
  if (!std::filesystem::is_directory(path))
    throw training::CheckpointError(fmt::format(
        "{0} is a file, not a run folder; a model of `ablate export` is used without "
        "ablate (docs/export.md), as by `python3 bench/consumer/translate.py {0}`, and ablate "
        "uses the run that it came from",
        path.string()));
  const auto runs = runs_in(path);
  if (!runs.empty())
    throw training::CheckpointError(
        fmt::format("{} is the folder of a study; name one of its runs, such as {}", path.string(),
                    runs.front().path.string()));
  throw training::CheckpointError(path.string() +
                                  " is not a run folder: it has no config.yaml (a run folder is "
                                  "<output>/<study>/<task>/<arm>/seed-<n>)");
}

void check_start(const RunFolder& folder, const config::Experiment& own) {
  require_run(folder);
  if (std::filesystem::exists(folder.plan()) && !std::filesystem::exists(folder.result()))
    throw UsageError(fmt::format(
        "training.init_from.run: {0} is not finished, and what it has learned depends on when it "
        "was stopped; go on with it first: ablate train {0}",
        folder.path.string()));
  for (const auto& [key, why] : config::start_problems(own, planned_experiment(folder)))
    throw UsageError(fmt::format("training.{} {} ({})", key, why, folder.path.string()));
}

double shared_share(const InitialWeights& arm, const InitialWeights& baseline) {
  int64_t all = 0, shared = 0;
  for (const auto& [digest, numbers] : arm) {
    all += numbers;
    if (baseline.contains(digest)) shared += numbers;
  }
  return static_cast<double>(shared) / static_cast<double>(all);
}

void write_initial_weights(const RunFolder& folder, const InitialWeights& weights) {
  training::write_durably(folder.initial_weights(), training::sealed_json(weights));
}

InitialWeights read_initial_weights(const RunFolder& folder) {
  if (!std::filesystem::exists(folder.initial_weights())) return {};
  const auto json = training::read_sealed_json(folder.initial_weights());
  try {
    training::require_integers(json);
    return json.get<InitialWeights>();
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(folder.initial_weights().string() + " is damaged (" +
                                    error.what() + ")");
  }
}

}  // namespace ablate::records
