#include "experiments/records/result.h"

#include <algorithm>

#include "tokenizer/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/storage/sealed_json.h"

namespace ablate::records {
namespace {

/// What a report reads of a run besides its result.
std::vector<std::filesystem::path> files_beside(const RunFolder& folder, const RunResult& result) {
  std::vector<std::filesystem::path> files{folder.log()};
  for (const auto& test : result.tests)
    for (const auto& path :
         {folder.sources(test.name), folder.references(test.name), folder.outputs(test.name)})
      files.push_back(path);
  return files;
}

/// Of the folder itself.
bool names_a_file(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

}  // namespace

double value_on(const RunResult& run, const std::string& test_set, const config::Metric& metric) {
  const auto test = std::ranges::find(run.tests, test_set, &TestScores::name);
  return test == run.tests.end() ? kNotMeasured : value_of(*test, metric);
}

std::optional<RunResult> read_result(const RunFolder& folder) {
  const auto file = folder.result();
  if (!std::filesystem::exists(file)) return {};
  const std::string remedy = "; remove it to evaluate the run again";
  const auto json = training::read_sealed_json(file, remedy);
  try {
    for (const char* name : {"study", "task", "arm", "seed", "steps", "tests"}) json.at(name);
    for (const auto& test : json.at("tests")) test.at("name");
    return training::from_json<RunResult>(json, training::Absent::keeps_its_default);
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(file.string() + " is damaged (" + error.what() + ")" + remedy);
  }
}

void write_result(const RunFolder& folder, RunResult result) {
  result.files.clear();
  for (const auto& path : files_beside(folder, result))
    if (std::filesystem::exists(path))
      result.files[path.filename().string()] = tokenizer::sha256(training::read_bytes(path));
  training::write_durably(folder.result(), training::sealed_json(training::to_json(result)));
}

void check_files(const RunFolder& folder, const RunResult& result) {
  for (const auto& [name, digest] : result.files) {
    const auto path = folder.path / name;
    if (!names_a_file(name))
      throw training::CheckpointError(folder.result().string() +
                                      " is damaged: it lists a file outside its folder");
    if (std::filesystem::exists(path) && tokenizer::sha256(training::read_bytes(path)) != digest)
      throw training::CheckpointError(path.string() +
                                      " is damaged: it is not the file that the run's result.json "
                                      "was written with; remove that to evaluate the run again");
  }
}

}  // namespace ablate::records
