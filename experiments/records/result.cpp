#include "experiments/records/result.h"

#include <algorithm>

#include "experiments/records/failure.h"
#include "experiments/records/sealed_record.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

/// The files of a run that reports read beside its result.
std::vector<std::filesystem::path> files_beside(const RunFolder& folder, const RunResult& result) {
  std::vector<std::filesystem::path> files{folder.log()};
  for (const auto& test : result.tests)
    for (const auto& path :
         {folder.sources(test.name), folder.references(test.name), folder.outputs(test.name)})
      files.push_back(path);
  return files;
}

/// Whether the name is that of a file directly in the folder.
bool names_a_file(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

/// Lines of a log that have `key`, with `value` if there is one.
struct Wanted {
  const char* key;
  std::optional<std::string_view> value;

  bool operator()(const nlohmann::json& line) const {
    return line.contains(key) && (!value || line.value(key, "") == *value);
  }
};

/// The wanted lines of the last step that has any.
std::vector<nlohmann::json> last_lines(const std::vector<nlohmann::json>& log,
                                       const Wanted& wanted) {
  std::vector<nlohmann::json> lines;
  for (const auto& line : log) {
    if (!wanted(line)) continue;
    if (!lines.empty() && lines.back().at("step") != line.at("step")) lines.clear();
    lines.push_back(training::with_non_finite(line));
  }
  return lines;
}

double mean_of(const std::vector<nlohmann::json>& lines, const char* key) {
  double sum = 0;
  for (const auto& line : lines) sum += line.at(key).get<double>();
  return sum / static_cast<double>(lines.size());
}

double over_places(const std::vector<nlohmann::json>& lines, std::string_view observed) {
  if (lines.empty()) return kNotMeasured;
  const auto& last = lines.back();
  if (observed == "rank_residual" || last.at("place") == "model") return last.at("value");
  return mean_of(lines, "value");
}

}  // namespace

void add_logged(RunResult& result, const std::vector<nlohmann::json>& log) {
  RunResult::fields(result, [&]<class Member>(const char* name, Member& member) {
    if constexpr (std::is_same_v<Member, double>)
      if (const auto* metric = config::find_metric(name); metric != nullptr && metric->observed)
        member = over_places(last_lines(log, {"observed", name}), name);
  });
  if (const auto lines = last_lines(log, {"mixture", {}}); !lines.empty())
    result.expert_imbalance = mean_of(lines, "highest");
}

double value_on(const RunResult& run, const std::string& test_set, const config::Metric& metric) {
  const auto test = std::ranges::find(run.tests, test_set, &TestScores::name);
  return test == run.tests.end() ? kNotMeasured : value_of(*test, metric);
}

std::optional<RunResult> read_result(const RunFolder& folder) {
  return read_sealed<RunResult>(folder.result(), "; remove it to evaluate the run again");
}

void write_result(const RunFolder& folder, RunResult result) {
  result.files.clear();
  for (const auto& path : files_beside(folder, result))
    if (std::filesystem::exists(path))
      result.files[path.filename().string()] = tokenizer::sha256(training::read_bytes(path));
  write_sealed(folder.result(), result);
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

StudyRuns read_runs(const config::Study& study, const StudyFolder& folder) {
  StudyRuns runs{.folder = folder};
  for (const int64_t seed : study.declared_seeds)
    if (std::ranges::find(study.seeds, seed) == study.seeds.end()) runs.other_seeds.push_back(seed);
  if (study.looks_often()) runs.other_seeds.clear();  // any number of seeds is valid
  for (const auto& run : study.runs) {
    const auto place = folder.run(run);
    if (!run.waits.empty()) {
      runs.missing.push_back({run.task, run.arm, run.seed, run.waits});
    } else if (auto result = read_result(place)) {
      check_files(place, *result);
      runs.results.push_back(std::move(*result));
    } else {
      (is_left_out(run, folder) ? runs.left_out : runs.missing)
          .push_back({run.task, config::folder_arm(run), run.seed, why_missing(place)});
    }
  }
  return runs;
}

}  // namespace ablate::records
