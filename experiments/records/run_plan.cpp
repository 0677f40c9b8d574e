#include "experiments/records/run_plan.h"

#include <fmt/format.h>

#include <filesystem>

#include "experiments/config/printer.h"
#include "experiments/errors.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/storage/sealed_json.h"

namespace ablate::records {
namespace {

std::map<std::string, std::string> given_values(const config::RunSpecification& run) {
  auto given = run.origins;
  std::erase_if(given, [](const auto& value) { return value.second == config::kDefaultOrigin; });
  return given;
}

}  // namespace

void check_plan(const RunFolder& folder, const config::RunSpecification& run) {
  const auto file = folder.config();
  if (!std::filesystem::exists(file)) return;
  const auto changes = config::differences(config::read_experiment(file), run.experiment);
  if (changes.empty()) return;
  std::string list;
  for (const auto& change : changes)
    list += fmt::format("\n  {}: {} there, {} now", change.path, change.left, change.right);
  throw UsageError(fmt::format(
      "{} holds a run of another configuration; choose another --output or remove it:{}",
      folder.path.string(), list));
}

void write_plan(const RunFolder& folder, const config::Study& study,
                const config::RunSpecification& run) {
  check_plan(folder, run);
  std::filesystem::create_directories(folder.path);
  const auto yaml = config::to_yaml(run.experiment, run.origins);
  const RunPlan plan{
      .study = study.name,
      .task = run.task,
      .arm = run.arm,
      .seed = run.seed,
      .data_folder = std::filesystem::absolute(study.data_folder / ".").lexically_normal(),
      .given = given_values(run),
      .config_sha256 = tokenizer::sha256(yaml)};
  training::write_durably(folder.plan(), training::sealed_json(training::to_json(plan)));
  training::write_durably(folder.config(), yaml);
}

RunPlan read_plan(const RunFolder& folder) {
  const auto file = folder.plan();
  if (!std::filesystem::exists(file))
    throw training::CheckpointError(
        file.string() + " is missing: only a run that `ablate run` has planned can be trained");
  const auto json = training::read_sealed_json(file, "; repeat `ablate run`");
  try {
    return training::from_json<RunPlan>(json);
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(
        fmt::format("{} is damaged ({}); repeat `ablate run`", file.string(), error.what()));
  }
}

config::Experiment planned_experiment(const RunFolder& folder) {
  if (std::filesystem::exists(folder.plan()) &&
      tokenizer::sha256(training::read_bytes(folder.config())) != read_plan(folder).config_sha256)
    throw training::CheckpointError(
        folder.config().string() +
        " is damaged: it is not the configuration that the run was planned with; repeat `ablate "
        "run`");
  return config::read_experiment(folder.config());
}

}  // namespace ablate::records
