#include "experiments/result.h"

#include <algorithm>

#include "training/checkpoint/checkpoint_error.h"
#include "training/checkpoint/durable_file.h"
#include "training/checkpoint/finite_json.h"

namespace ablate::experiments {
namespace {

void read(const nlohmann::json& json, TestScores& scores) {
  scores.name = json.at("name");
  TestScores::fields(scores, [&](const char* name, auto& slot) {
    if (json.contains(name)) json.at(name).get_to(slot);
  });
}

void read_slot(const nlohmann::json& json, std::vector<TestScores>& tests) {
  for (const auto& one : json) read(one, tests.emplace_back());
}
template <class T>
void read_slot(const nlohmann::json& json, T& slot) {
  json.get_to(slot);
}

nlohmann::json write_slot(const std::vector<TestScores>& tests) {
  auto list = nlohmann::json::array();
  for (const auto& one : tests) list.push_back(to_json(one));
  return list;
}
template <class T>
nlohmann::json write_slot(const T& slot) {
  return slot;
}

}  // namespace

double shared_share(const InitialWeights& arm, const InitialWeights& baseline) {
  int64_t all = 0, shared = 0;
  for (const auto& [digest, numbers] : arm) {
    all += numbers;
    if (baseline.contains(digest)) shared += numbers;
  }
  return static_cast<double>(shared) / static_cast<double>(all);
}

std::string file_part(std::string test_set) {
  std::ranges::replace(test_set, ' ', '-');
  return test_set;
}

nlohmann::json to_json(const TestScores& scores) {
  nlohmann::json json;
  TestScores::fields(scores, [&](const char* name, const auto& slot) { json[name] = slot; });
  return training::without_non_finite(std::move(json));
}

nlohmann::json to_json(const RunResult& result) {
  nlohmann::json json;
  RunResult::fields(result,
                    [&](const char* name, const auto& slot) { json[name] = write_slot(slot); });
  return training::without_non_finite(std::move(json));
}

std::optional<RunResult> read_result(const std::filesystem::path& folder) {
  const auto file = folder / "result.json";
  if (!std::filesystem::exists(file)) return {};
  try {
    const auto json = training::with_non_finite(nlohmann::json::parse(training::read_bytes(file)));
    RunResult result;
    for (const char* name : {"study", "task", "arm", "seed", "steps", "tests"}) json.at(name);
    RunResult::fields(result, [&](const char* name, auto& slot) {
      if (json.contains(name)) read_slot(json.at(name), slot);
    });
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(file.string() + " is damaged (" + error.what() +
                                    "); remove it to evaluate the run again");
  }
}

}  // namespace ablate::experiments
