#include "experiments/report/write_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "experiments/analysis/curve.h"
#include "experiments/config/schema/printer.h"
#include "experiments/records/folders.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/records/run_start.h"
#include "experiments/report/page/page.h"
#include "experiments/report/table/layout.h"
#include "tokenizer/tokenizer.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"
#include "training/storage/run_log.h"

namespace ablate::report {
namespace {

void write_tables(const records::StudyRuns& runs, const analysis::Evidence& evidence) {
  std::string lines;
  for (const auto& result : runs.results) lines += training::to_json(result).dump() + "\n";
  training::write_durably(runs.folder.result_lines(), lines);
  training::write_durably(runs.folder.csv(), csv_table(evidence));
  training::write_durably(runs.folder.json(), json_table(evidence));
  training::write_durably(runs.folder.text_table(), text_table(evidence));
  training::write_durably(runs.folder.markdown_table(), markdown_table(evidence));
  training::write_durably(runs.folder.latex_table(), latex_table(evidence));
}

}  // namespace

void write_report(const config::Study& study, const records::StudyRuns& runs,
                  const analysis::Evidence& evidence, std::vector<PositionPicture> positions) {
  write_tables(runs, evidence);
  const auto shown = evidence.tuning ? analysis::nearest_runs(study, evidence.tuning->arms) : study;
  auto data = read_report_data(shown, runs.folder);
  data.positions = std::move(positions);
  if (const auto forest = forest_of(evidence); !forest.panels.empty())
    training::write_durably(runs.folder.forest(), forest_file(forest));
  training::write_durably(runs.folder.report(), report_page(evidence, data));
}

namespace {

namespace fs = std::filesystem;

constexpr size_t kSamples = 2;       // of each test set
constexpr size_t kMostTestSets = 3;  // that samples are shown of
constexpr size_t kMostTextBytes = 1 << 26;

void add_mixture(const nlohmann::json& line, std::vector<ExpertLoad>& experts) {
  const auto name = line.at("mixture").get<std::string>();
  auto found = std::ranges::find(experts, name, &ExpertLoad::module);
  if (found == experts.end()) found = experts.insert(found, {.module = name});
  found->steps.push_back(line.at("step").get<double>());
  found->shares.push_back(line.at("shares").get<std::vector<double>>());
  found->entropy.push_back(line.at("entropy").get<double>());
}

void add_figure(const nlohmann::json& line, std::vector<ObservedFigure>& observed) {
  const auto what = line.at("observed").get<std::string>();
  const auto place = line.at("place").get<std::string>();
  auto found = std::ranges::find_if(observed, [&](const ObservedFigure& figure) {
    return figure.what == what && figure.place == place;
  });
  if (found == observed.end()) found = observed.insert(found, {.what = what, .place = place});
  const auto step = line.at("step").get<double>();
  found->points.push_back({step, line.at("value").get<double>()});
  const auto heads = line.value("heads", std::vector<double>());
  found->heads.resize(std::max(found->heads.size(), heads.size()));
  for (size_t i = 0; i < heads.size(); ++i) found->heads[i].push_back({step, heads[i]});
}

void add_line(const nlohmann::json& line, RunRecord& record) {
  if (line.contains("observed"))
    add_figure(line, record.observed);
  else if (line.contains("mixture"))
    add_mixture(line, record.experts);
  else if (line.contains("validation_loss"))
    record.validation.push_back(
        {records::spent_at(line), line.at("validation_loss").get<double>()});
  else if (line.contains("negative_log_likelihood"))
    record.training.push_back(
        {records::spent_at(line), line.at("negative_log_likelihood").get<double>()});
}

RunRecord record_of(const config::RunSpecification& run, const records::RunFolder& folder) {
  RunRecord record{.task = run.task, .arm = run.arm, .seed = run.seed};
  const auto log = folder.log();
  try {
    if (fs::exists(log))
      for (const auto& line : training::read_run_log(log))
        add_line(training::with_non_finite(line), record);
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(log.string() + " is damaged: " + error.what());
  }
  if (const auto result = records::read_result(folder))
    for (const auto& test : result->tests)
      if (!test.position_accuracy.empty())
        record.positions.push_back({test.name, test.position_accuracy});
  return record;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  if (!fs::exists(file) || fs::file_size(file) > kMostTextBytes) return lines;
  std::istringstream stream(training::read_bytes(file));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Compares outputs with references as the exact match of one run does: text under the
/// normalisation of its tokenizer, classes as they are.
class ExactMatch {
 public:
  explicit ExactMatch(const records::RunFolder& run) {
    const auto joint = run.joint_tokenizer();
    const auto model = fs::exists(joint) ? joint : run.target_tokenizer();
    if (!fs::exists(records::labels_of(run)) && fs::exists(model))
      tokenizer_ = tokenizer::Tokenizer::load(model);
  }
  bool operator()(const std::string& output, const std::string& reference) const {
    if (!tokenizer_) return output == reference;
    return normal_form(*tokenizer_, output) == normal_form(*tokenizer_, reference);
  }

 private:
  std::optional<tokenizer::Tokenizer> tokenizer_;
};

/// The first run of an arm that has finished.
struct SampledRun {
  const config::RunSpecification* run;
  ExactMatch exact;
};

/// The samples of one test set: examples spread evenly over it, from every arm's first seed.
void add_samples(const records::StudyFolder& folder, const std::vector<SampledRun>& arms,
                 const std::string& test_set, std::vector<SampleOutputs>& samples) {
  const auto& shown = *arms.front().run;
  const auto first = folder.run(shown);
  const auto references = lines_of(first.references(test_set));
  const auto sources = lines_of(first.sources(test_set));
  std::vector<std::vector<std::string>> outputs;
  for (const auto& arm : arms) {
    const auto own = folder.run(*arm.run);
    outputs.push_back(lines_of(own.outputs(test_set)));
    if (outputs.back().size() != references.size() || lines_of(own.sources(test_set)) != sources ||
        lines_of(own.references(test_set)) != references)
      outputs.back().clear();  // of other examples
  }
  const size_t count = std::min(kSamples, references.size());
  for (size_t i = 0; i < count; ++i) {
    const size_t line = i * references.size() / count;
    SampleOutputs sample{.task = shown.task,
                         .test_set = test_set,
                         .seed = shown.seed,
                         .source = line < sources.size() ? sources[line] : "",
                         .reference = references[line]};
    for (size_t arm = 0; arm < arms.size(); ++arm)
      if (line < outputs[arm].size())
        sample.outputs.push_back({arms[arm].run->arm, outputs[arm][line],
                                  arms[arm].exact(outputs[arm][line], references[line])});
    samples.push_back(std::move(sample));
  }
}

/// The first run of every arm of the task.
std::vector<const config::RunSpecification*> first_runs(const config::Study& study,
                                                        const std::string& task) {
  std::vector<const config::RunSpecification*> runs;
  std::set<std::string> seen;
  for (const auto& run : study.runs)
    if (run.task == task && seen.insert(run.arm).second) runs.push_back(&run);
  return runs;
}

std::vector<SampleOutputs> samples_of(const config::Study& study,
                                      const records::StudyFolder& folder) {
  std::vector<SampleOutputs> samples;
  for (const auto& task : study.tasks) {
    std::vector<SampledRun> runs;
    for (const auto* run : first_runs(study, task))
      if (fs::exists(folder.run(*run).result()))
        runs.push_back({run, ExactMatch(folder.run(*run))});
    if (runs.empty()) continue;
    const auto tests = records::read_result(folder.run(*runs.front().run))->tests;
    for (const size_t place : evenly_spaced(tests.size(), kMostTestSets))
      add_samples(folder, runs, tests[place].name, samples);
  }
  return samples;
}

std::string printed(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

const std::set<std::string_view> kOfOneStart{"began", "job"};

/// The machines and programs of a run's starts, each value once.
std::map<std::string, std::set<std::string>> facts_of(
    const std::vector<records::RunStart>& starts) {
  std::map<std::string, std::set<std::string>> facts;
  for (const auto& start : starts)
    records::RunStart::fields(start, [&]<class Member>(const char* name, const Member& value) {
      if constexpr (std::is_same_v<Member, std::string>)
        if (!value.empty() && !kOfOneStart.contains(name)) facts[name].insert(value);
    });
  return facts;
}

std::vector<EnvironmentFact> environment_of(const config::Study& study,
                                            const records::StudyFolder& folder) {
  std::map<std::string, std::map<std::string, int64_t>> counts;
  std::set<fs::path> seen;  // an arm at its best value may be the arm itself
  for (const auto& run : study.runs) {
    const auto file = folder.run(run).environment();
    if (!fs::exists(file) || !seen.insert(file).second) continue;
    const auto facts = records::recorded_environment(folder.run(run));
    for (const auto& [name, value] : facts.items())
      if (name != "seed" && name != "starts") ++counts[name][printed(value)];
    for (const auto& [name, values] : facts_of(records::read_starts(folder.run(run))))
      for (const auto& value : values) ++counts[name][value];
  }
  std::vector<EnvironmentFact> environment;
  for (const auto& [name, values] : counts)
    environment.push_back({name, {values.begin(), values.end()}});
  return environment;
}

/// The word in single quotes if a shell would not read it as one word.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char letter : word) result += letter == '\'' ? "'\\''" : std::string(1, letter);
  return result + "'";
}

/// The command that runs the study anew, into another folder and from the study's own, so that it
/// holds wherever that folder lies; flags for tasks, arms and seeds may be appended.
std::string command_of(const config::Study& study, const records::StudyFolder& folder) {
  const auto here = fs::weakly_canonical(fs::absolute(folder.path));
  const auto data = fs::weakly_canonical(fs::absolute(study.data_folder / ".")).lexically_normal();
  auto command = fmt::format("ablate run {} --output ../repeated --data {}",
                             records::StudyFolder("").study().string(),
                             shell_word(data.lexically_relative(here).string()));
  for (const auto& set : records::frozen_selection(folder).sets)
    command += " --set " + shell_word(set);
  return command;
}

/// The arm, behind those whose weights it starts from.
std::string arms_for(const config::Study& study, const config::RunSpecification& run) {
  auto names = shell_word(run.arm);
  const auto* one = config::configuration_of(study.configurations, run.task, run.arm);
  while (one != nullptr && one->experiment.training.init_from.arm) {
    const auto& name = *one->experiment.training.init_from.arm;
    names = shell_word(name) + "," + names;
    one = config::configuration_of(study.configurations, run.task, name);
  }
  return names;
}

void add_commands(const config::Study& study, const records::StudyFolder& folder,
                  ReportData& data) {
  const auto command = command_of(study, folder);
  const auto seeds = fmt::format("--seeds {}", fmt::join(study.seeds, ","));
  data.command = command + " " + seeds;
  for (const auto& task : study.tasks)
    for (const auto* run : first_runs(study, task))
      data.commands.push_back({task, run->arm,
                               fmt::format("{} --tasks {} --arms {} {}", command, shell_word(task),
                                           arms_for(study, *run), seeds)});
}

TaskConfiguration configuration_of(const config::Study& study, const std::string& task) {
  const auto runs = first_runs(study, task);
  const auto baseline = std::ranges::find_if(runs, [&](const config::RunSpecification* run) {
    return study.compare && run->arm == study.compare->baseline;
  });
  const auto* shown = baseline == runs.end() ? runs.front() : *baseline;
  return {task, config::to_yaml(shown->experiment, shown->origins)};
}

}  // namespace

ReportData read_report_data(const config::Study& study, const records::StudyFolder& folder) {
  ReportData data;
  for (const auto& run : study.runs) data.runs.push_back(record_of(run, folder.run(run)));
  data.samples = samples_of(study, folder);
  data.environment = environment_of(study, folder);
  add_commands(study, folder, data);
  for (const auto& task : study.tasks) data.configurations.push_back(configuration_of(study, task));
  return data;
}

}  // namespace ablate::report
