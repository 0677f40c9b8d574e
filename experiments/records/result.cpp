#include "experiments/records/result.h"

#include "training/storage/checkpoint_error.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {

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

}  // namespace ablate::records
