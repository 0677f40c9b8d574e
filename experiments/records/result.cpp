#include "experiments/records/result.h"

#include <algorithm>

#include "training/storage/checkpoint_error.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {

double value_on(const RunResult& run, const std::string& test_set, const config::Metric& metric) {
  const auto test = std::ranges::find(run.tests, test_set, &TestScores::name);
  return test == run.tests.end() ? kNotMeasured : value_of(*test, metric);
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

}  // namespace ablate::records
