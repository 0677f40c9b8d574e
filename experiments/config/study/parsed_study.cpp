#include "experiments/config/study/parsed_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "experiments/config/schema/layer_changes.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/selection.h"
#include "experiments/config/yaml/document.h"

namespace ablate::config {
namespace {

/// Reports `why` if `holds` is false, unless the key could not be read, which is reported already.
void need(bool holds, const std::string& key, const std::string& why, ParsedStudy& study) {
  if (!holds && study.readable(key)) study.problems.add(study.trail.place(key), why);
}

void check_keys(ParsedStudy& study) {
  const auto& keys = study.keys;
  need(study.given("name"), "name", "missing key 'name'; it names the output folder", study);
  if (study.given("name") && study.readable("name"))
    check_name(keys.name, "study", study.trail.place("name"), study.problems);
  if (study.given("seeds") && study.readable("seeds"))
    check_seeds(keys.seeds, study.trail.place("seeds"), study.problems);
  need(std::ranges::find(keys.expect, "") == keys.expect.end(), "expect",
       "expect holds an empty text", study);
}

std::string name_of_base_task(const Layered& base) {
  if (!base.trail.marks.contains("data.task")) return "task";
  return std::visit([](const auto& task) { return std::string(task.name); }, base.experiment.data);
}

void read_variations(ParsedStudy& study) {
  const auto& keys = study.keys;
  if (study.given("tasks")) study.tasks = variations(keys.tasks, "task", study.problems);
  if (study.given("arms")) study.arms = variations(keys.arms, "arm", study.problems);
  if (study.given("grid"))
    if (auto all = multiplied(study.arms, keys.grid, study.problems); !all.empty())
      study.arms = std::move(all);
  if (study.arms.empty()) study.arms.push_back({.name = "base"});
  if (study.given("base")) lay(nested(keys.base, study.problems), study.base, study.problems);
  if (study.tasks.empty()) study.tasks.push_back({.name = name_of_base_task(study.base)});
}

std::vector<TriedChange> tried_changes(ParsedStudy& study) {
  const auto& tune = study.keys.tune;
  const Value values{
      .type = Value::Type::list, .items = tune.values, .mark = study.trail.place("tune.values")};
  Value grid{.type = Value::Type::mapping, .mark = values.mark};
  grid.entries.push_back({tune.key, study.trail.place("tune.key"), values});
  std::vector<Variation> bare;
  for (const auto& arm : study.arms) bare.push_back({.name = arm.name, .mark = arm.mark});
  auto all = multiplied(bare, grid, study.problems);  // grouped by arm
  std::vector<TriedChange> tried;
  const auto count = tune.values.size();
  for (size_t i = 0; i < all.size(); ++i)
    tried.push_back({study.arms[i / count].name, i % count, std::move(all[i])});
  return tried;
}

void read_tuning(ParsedStudy& study) {
  need(study.given("tune.key"), "tune", "tune needs 'key', a dotted path below base", study);
  need(study.given("tune.values"), "tune", "tune needs 'values', a list of values to try", study);
  for (const auto& arm : study.arms)
    if (arm.name.ends_with(kTunedSuffix))
      study.problems.add(arm.mark,
                         fmt::format("the name of an arm must not end in {} in a study with tune: "
                                     "that is the suffix of the arms with the best values",
                                     kTunedSuffix));
  if (!study.given("tune.key") || !study.given("tune.values") || !study.readable("tune.values"))
    return;
  const auto& tune = study.keys.tune;
  need(!tune.values.empty(), "tune.values", "tune.values must list at least one value", study);
  if (tune.values.empty()) return;
  if (study.given("tune.seeds") && study.readable("tune.seeds"))
    check_seeds(tune.seeds, study.trail.place("tune.seeds"), study.problems);
  study.tunes = true;
  study.tried = tried_changes(study);
}

/// The arms of the file, and in a study with tune each with its best value.
std::vector<ComparedArm> compared_arms(const ParsedStudy& study) {
  std::vector<ComparedArm> arms;
  for (const auto& arm : study.arms) arms.push_back({arm.name});
  if (study.tunes)
    for (const auto& arm : study.arms) arms.push_back({.arm = arm.name, .tuned = true});
  return arms;
}

void read_claims(ParsedStudy& study) {
  const StudyNames names{names_of(study.tasks), compared_arms(study)};
  if (study.given("compare"))
    study.compare = check_comparison(study.keys.compare, names, study.trail, study.problems);
  const auto* expect = study.document.find("expect");
  if (expect == nullptr) return;
  for (const auto& item : expect->value.items)
    if (item.type == Value::Type::scalar && !item.scalar.empty())  // others are already reported
      study.expect.push_back(read_clause(item, names, study.problems));
}

}  // namespace

void lay(const Value& layer, Layered& run, ProblemList& problems) {
  Reader(experiment_schema(), problems, run.trail).lay_over(layer, run.experiment);
}

ParsedStudy parse_study(const std::filesystem::path& file) {
  ParsedStudy study{.file = file, .source = read_source(file)};
  study.trail.start = study.base.trail.start = {study.source, 0, 0};
  study.document = parse_mapping(study.source, study.problems);
  Reader(study_schema(), study.problems, study.trail).lay_over(study.document, study.keys);
  check_keys(study);
  read_variations(study);
  if (study.given("tune")) read_tuning(study);
  read_claims(study);
  return study;
}

namespace {

void lay_all(const std::vector<Value>& layers, Layered& run, ProblemList& problems) {
  for (const auto& layer : layers) lay(layer, run, problems);
}

void finish(Layered& run, ProblemList& problems) {
  lay_changes(run.experiment.model, run.trail, problems);
}

/// The arm with each value of the tuned key, which overrides all other layers.
std::vector<ExpandedChange> expanded_changes(const ParsedStudy& study, const ExpandedArm& arm,
                                             ProblemList& problems) {
  std::vector<ExpandedChange> all;
  for (const auto& tried : study.tried) {
    if (tried.arm != arm.name) continue;
    all.push_back({&tried, arm.run});
    lay_all(tried.change.layers, all.back().run, problems);
    finish(all.back().run, problems);
  }
  return all;
}

}  // namespace

Chosen chosen_of(const ParsedStudy& study, const Selection& selection, ProblemList& problems) {
  Chosen chosen;
  if (!study.given("seeds") && selection.seeds.empty() && study.readable("seeds"))
    problems.add(study.trail.place("seeds"), "missing key 'seeds'; write [1]");
  chosen.seeds = selection.seeds.empty() ? study.keys.seeds : selected_seeds(selection, problems);
  chosen.sets = set_layer(selection.sets, problems);
  chosen.tasks = selected(names_of(study.tasks), selection.tasks, {"--tasks", "task"}, problems);
  chosen.arms = selected(names_of(study.arms), selection.arms, {"--arms", "arm"}, problems);
  return chosen;
}

ExpandedTask expand(const ParsedStudy& study, const Variation& task, const Chosen& chosen,
                    ProblemList& problems) {
  ExpandedTask expanded{.name = task.name, .selected = is_selected(task.name, chosen.tasks)};
  Layered of_task = study.base;
  lay_all(task.layers, of_task, problems);
  for (const auto& variation : study.arms) {
    const bool wanted = expanded.selected && is_selected(variation.name, chosen.arms);
    auto& arm = expanded.arms.emplace_back(ExpandedArm{variation.name, wanted, of_task, {}});
    lay_all(variation.layers, arm.run, problems);
    // Options of the command line need to be valid only for the selected arms.
    if (wanted) lay(chosen.sets, arm.run, problems);
    finish(arm.run, problems);
    if (expanded.selected) arm.tried = expanded_changes(study, arm, problems);
  }
  return expanded;
}

}  // namespace ablate::config
