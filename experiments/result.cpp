#include "experiments/result.h"

#include "training/checkpoint/checkpoint_error.h"
#include "training/checkpoint/durable_file.h"
#include "training/checkpoint/finite_json.h"

namespace ablate::experiments {

double shared_share(const InitialWeights& arm, const InitialWeights& baseline) {
  int64_t all = 0, shared = 0;
  for (const auto& [digest, numbers] : arm) {
    all += numbers;
    if (baseline.contains(digest)) shared += numbers;
  }
  return static_cast<double>(shared) / static_cast<double>(all);
}

std::optional<RunResult> read_result(const RunFolder& folder) {
  const auto file = folder.result();
  if (!std::filesystem::exists(file)) return {};
  try {
    const auto json = nlohmann::json::parse(training::read_bytes(file));
    for (const char* name : {"study", "task", "arm", "seed", "steps", "tests"}) json.at(name);
    for (const auto& test : json.at("tests")) test.at("name");
    return training::from_json<RunResult>(json, training::Absent::keeps_its_default);
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(file.string() + " is damaged (" + error.what() +
                                    "); remove it to evaluate the run again");
  }
}

}  // namespace ablate::experiments
