#include "experiments/records/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/records/sealed_record.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

std::map<std::string, std::string> given_values(const config::RunSpecification& run) {
  auto given = run.origins;
  std::erase_if(given, [](const auto& value) { return value.second == config::kDefaultOrigin; });
  return given;
}

}  // namespace

bool is_study_file(const std::filesystem::path& path) {
  const auto ending = path.extension();
  return (ending == ".yaml" || ending == ".yml") && std::filesystem::is_regular_file(path);
}

void check_plan(const RunFolder& folder, const config::RunSpecification& run) {
  const auto file = folder.config();
  if (!std::filesystem::exists(file)) return;
  const auto changes = config::differences(config::read_experiment(file), run.experiment);
  if (changes.empty()) return;
  std::string list;
  for (const auto& change : changes)
    list += fmt::format("\n  {}: {} before, {} now", change.path, change.left, change.right);
  throw UsageError(fmt::format(
      "{} holds a run of another configuration; choose another --output or remove it:{}",
      folder.path.string(), list));
}

void write_plan(const RunFolder& folder, const config::Study& study,
                const config::RunSpecification& run) {
  check_plan(folder, run);
  training::create_folder(folder.path);
  const auto yaml = config::to_yaml(run.experiment, run.origins);
  const RunPlan plan{
      .study = study.name,
      .task = run.task,
      .arm = config::folder_arm(run),
      .seed = run.seed,
      .crossed = study.crossed,
      .trial = run.trial,
      .data_folder = std::filesystem::absolute(study.data_folder / ".").lexically_normal(),
      .given = given_values(run),
      .config_sha256 = tokenizer::sha256(yaml)};
  write_sealed(folder.plan(), plan);
  training::write_durably(folder.config(), yaml);
}

RunPlan read_plan(const RunFolder& folder) {
  const auto file = folder.plan();
  if (std::filesystem::is_regular_file(folder.path))
    throw training::CheckpointError(
        is_study_file(folder.path)
            ? fmt::format("{0} is a study: `ablate run {0}`", folder.path.string())
            : folder.path.string() + " is a file, not a run folder");
  const auto plan = read_sealed<RunPlan>(file, "; repeat `ablate run`", {{"crossed", false}});
  if (!plan)
    throw training::CheckpointError(
        file.string() + " is missing: only a run that `ablate run` has planned can be trained");
  return *plan;
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

namespace {

/// Whether every task of the arrays has one of the `runs`.
bool fits(const WaveJobs& jobs, int64_t runs) {
  return std::ranges::all_of(jobs.arrays, [&](const WaveArray& array) {
    return array.first >= 0 && array.first <= runs && array.tasks >= 0 &&
           array.tasks <= runs - array.first;
  });
}

}  // namespace

int64_t last_wave(const StudyFolder& folder) {
  int64_t number = 0;
  while (std::filesystem::exists(folder.wave(number + 1).path)) ++number;
  return number;
}

void write_wave_runs(const WaveFolder& wave, const std::vector<RunFolder>& runs) {
  std::string lines;
  for (const auto& run : runs) lines += run.path.string() + "\n";
  training::write_durably(wave.runs(), lines);
}

std::vector<RunFolder> read_wave_runs(const WaveFolder& wave) {
  std::istringstream stream(training::read_bytes(wave.runs()));
  std::vector<RunFolder> runs;
  for (std::string line; std::getline(stream, line);)
    runs.emplace_back(std::filesystem::path(line));
  return runs;
}

std::optional<WaveJobs> read_wave_jobs(const WaveFolder& wave) {
  if (!std::filesystem::exists(wave.jobs())) return {};
  try {
    auto jobs =
        training::from_json<WaveJobs>(training::parse_json(training::read_bytes(wave.jobs())));
    if (!fits(jobs, std::ssize(read_wave_runs(wave)))) return {};
    return jobs;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void write_wave_jobs(const WaveFolder& wave, const WaveJobs& jobs) {
  training::write_durably(wave.jobs(), training::json_file(training::to_json(jobs)));
}

}  // namespace ablate::records
