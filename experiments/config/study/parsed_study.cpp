#include "experiments/config/study/parsed_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "experiments/config/schema/reader.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/claim_check.h"
#include "experiments/config/study/comparison_check.h"
#include "experiments/config/study/control.h"
#include "experiments/config/study/crossed_seeds.h"
#include "experiments/config/study/extends.h"
#include "experiments/config/study/selection.h"
#include "experiments/config/study/study.h"
#include "experiments/config/yaml/document.h"

namespace ablate::config {
namespace {

/// Reports `why` if `holds` is false, unless the key could not be read, which is reported already.
void need(bool holds, const std::string& key, const std::string& why, ParsedStudy& study) {
  if (!holds && study.readable(key)) study.problems.add(study.tree.place(key), why);
}

void check_keys(ParsedStudy& study) {
  const auto& keys = study.keys;
  need(study.given("name"), "name", "missing key 'name'; it names the output folder", study);
  if (study.given("name") && study.readable("name"))
    check_name(keys.name, "study", study.tree.place("name"), study.problems);
  if (study.given("seeds") && study.readable("seeds") && !study.crossed)
    check_seeds(keys.seeds, study.tree.place("seeds"), study.problems);
  need(std::ranges::find(keys.expect, "") == keys.expect.end(), "expect",
       "expect holds an empty text", study);
}

std::string name_of_base_task(const Tree& base) {
  const auto* task = base.find("data.task");
  return task == nullptr || task->value.scalar.empty() ? "task" : task->value.scalar;
}

/// Reports layers that would hide a value of the grid, whose points would then be the same.
void check_grid(const std::vector<Variation>& variations, const std::string& what,
                ParsedStudy& study) {
  for (const auto& axis : study.keys.grid.entries)
    for (const auto& variation : variations)
      if (gives(variation, axis.key))
        study.problems.add(variation.mark,
                           fmt::format("the {} {} sets {}, which the grid varies; remove one of "
                                       "the two",
                                       what, in_quotes(variation.name), axis.key));
}

void read_variations(ParsedStudy& study) {
  const auto& keys = study.keys;
  SettingAxes axes;
  if (study.given("tasks")) axes.tasks = variations(keys.tasks, "task", study.problems);
  if (study.given("sizes")) axes.sizes = variations(keys.sizes, "size", study.problems);
  if (study.given("arms")) study.arms = variations(keys.arms, "arm", study.problems);
  if (study.given("grid")) {
    check_grid(axes.sizes, "size", study);
    check_grid(study.arms, "arm", study);
    auto& points = study.given("arms") ? axes.points : study.arms;
    points = points_of(keys.grid, study.problems);
  }
  if (study.arms.empty()) study.arms.push_back({.name = "base"});
  if (axes.tasks.empty()) axes.tasks.push_back({.name = name_of_base_task(study.base)});
  study.sizes = axes.sizes;
  for (auto& [setting, change] : settings_of(axes, study.problems)) {
    study.settings.push_back(std::move(setting));
    study.tasks.push_back(std::move(change));
  }
  add_control(study);
}

void read_match(ParsedStudy& study) {
  const auto& match = study.keys.match;
  const bool whole = match.parameters == MatchedWith::baseline && study.given("match.by");
  need(whole, "match", "match needs 'parameters: baseline' and 'by', the key to solve for", study);
  need(study.given("compare.baseline"), "match",
       "match needs compare.baseline, whose parameters the other arms get", study);
  if (whole && study.readable("match.by"))
    check_matched_key(match.by, study.tree.place("match.by"), study.problems);
  const bool varied = whole && study.keys.grid.find(match.by) != nullptr;
  if (varied)
    study.problems.add(study.tree.place("match.by"),
                       fmt::format("match.by: the grid varies {}, so match cannot solve for it; "
                                   "match by another key, or take it out of the grid",
                                   match.by));
  const auto arms = names_of(study.arms);
  for (const auto& name : match.arms)
    if (name == study.keys.compare.baseline)
      study.problems.add(study.tree.place("match.arms"),
                         fmt::format("{} is the baseline, whose parameters the other arms get; "
                                     "leave it out of match.arms",
                                     in_quotes(name)));
    else
      require_known(name, arms, {"arm", "match.arms", study.tree.place("match.arms")},
                    study.problems);
  for (const auto& arm : study.arms) {
    const bool listed = match.arms.empty() || is_selected(arm.name, match.arms);
    if (whole && !varied && listed && arm.name != study.keys.compare.baseline &&
        !is_control(study.keys.compare, arm.name) && gives(arm, match.by))
      study.problems.add(arm.mark,
                         fmt::format("the arm {} sets {}, which match solves for; remove it, or "
                                     "leave the arm out of match.arms",
                                     in_quotes(arm.name), match.by));
  }
}

/// What is declared for a task, for each of its settings.
template <class Declared>
std::map<std::string, Declared> of_settings(const std::map<std::string, Declared>& of_tasks,
                                            const std::vector<Setting>& settings) {
  std::map<std::string, Declared> all;
  for (const auto& setting : settings)
    if (const auto found = of_tasks.find(setting.task); found != of_tasks.end())
      all[setting.name] = found->second;
  return all;
}

/// Reports a power law over fewer than three sizes of a model.
void check_fit(const StudyNames& names, ParsedStudy& study) {
  if (study.keys.compare.fit == Fit::none || names.settings.empty()) return;
  const auto& first = names.settings.front();
  const auto settings = settings_in(names.settings, first.task).size();
  const bool has_sizes = !first.size.empty();
  const auto arms = names.arms.size() - (study.compare->control ? 1 : 0);
  const auto sizes = has_sizes ? settings : std::max(settings, arms);
  need(sizes >= 3, "compare.fit",
       fmt::format(
           "compare.fit: power needs three sizes or more, and the study has {} {}; add some, "
           "or leave it out",
           sizes, has_sizes ? "sizes" : "arms"),
       study);
}

void read_claims(ParsedStudy& study) {
  const StudyNames names{study.settings, names_of(study.arms)};
  if (study.given("compare")) {
    study.compare = check_comparison(study.keys.compare, names, study.tree, study.problems);
    check_fit(names, study);
    const bool has_ladder = study.given("sizes") || (study.given("grid") && study.given("arms"));
    need(!has_ladder || study.compare->test != PairedTest::e_value, "compare.test",
         "compare.test: e_value is of single differences, and slopes over sizes or a grid are "
         "tested "
         "at one look; leave it out, or make a study of each size",
         study);
    study.compare->metrics = of_settings(study.compare->metrics, study.settings);
    study.compare->test_sets = of_settings(study.compare->test_sets, study.settings);
  }
  const auto* expect = study.tree.find("expect");
  if (expect == nullptr) return;
  for (const auto& item : expect->value.items)
    if (item.type == Value::Type::scalar && !item.scalar.empty())  // others are already reported
      study.expect.push_back(read_clause(item, names, study.problems));
}

/// "study.yaml:3", or the name of a source that is not a file; `study` is the file of `root`.
std::string origin(const Mark& mark, const Mark& root, const std::filesystem::path& study) {
  const auto& name = mark.source->name;
  if (name == kSetSource || name == kMatchSource) return name;
  const auto file = mark.source == root.source ? study : std::filesystem::path(name);
  return fmt::format("{}:{}", file.filename().string(), mark.line + 1);
}

/// The path in the tree of a value of all layers of a side: that of its first layer.
std::string marked_path(const std::string& leaf) {
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    const auto section = "model." + text_of(side);
    if (leaf.starts_with(section + ".")) return section_of(side, 1) + leaf.substr(section.size());
  }
  return leaf;
}

/// What else in the study gives the tuned key a value: "the grid"; empty if nothing does.
std::string giver_of(const std::string& key, const ParsedStudy& study) {
  if (study.keys.grid.find(key) != nullptr) return "the grid";
  if (study.keys.match.by == key) return "match";
  for (const auto& size : study.sizes)
    if (gives(size, key)) return "the size " + in_quotes(size.name);
  return "";
}

/// Whether arms that match has made equally large could differ in size by the values of the key.
bool may_change_size(const std::string& key) {
  return key.starts_with("model.") && !key.ends_with("dropout");
}

/// Reports tuned keys that the study itself varies or solves for, or that would undo `match`.
void check_tuned_keys(ParsedStudy& study) {
  if (!study.tuning) return;
  for (const auto& key : study.tuning->keys) {
    const auto giver = giver_of(key.path, study);
    if (!giver.empty())
      study.problems.add(
          key.values.front().mark,
          fmt::format("{} is tuned, but {} gives it; remove one of the two", key.path, giver));
    else if (study.given("match") && may_change_size(key.path))
      study.problems.add(key.values.front().mark,
                         fmt::format("{} is tuned, which may change the sizes that match has made "
                                     "equal; vary it in the grid instead, or remove match",
                                     key.path));
  }
}

/// Every section as if its kind had been the first one given.
void forget_kinds(Value& value) {
  value.renewed = false;
  for (auto& entry : value.entries) forget_kinds(entry.value);
}

/// Several documents mean what one file with all of their keys would, which is what is frozen.
void lay_documents(const std::vector<Value>& documents, ParsedStudy& study) {
  for (const auto& given : documents) {
    const auto document = with_listed_pairs(given, study.crossed, study.problems);
    Reader(study_schema(), study.problems).lay(document, options::slot_of(study.keys), study.tree);
    if (const auto* base = document.find("base"))
      lay(nested(base->value, study.problems), study.base, study.problems);
  }
  decode(study.tree.root, options::slot_of(study.keys));
  if (documents.size() == 1 || !study.problems.empty()) return;
  forget_kinds(study.base.root);
  auto whole = study.tree.root;
  std::erase_if(whole.entries, [](const Entry& entry) { return entry.key == "extends"; });
  for (auto& entry : whole.entries) {
    if (entry.key == "base") entry.value = study.base.root;
    if (entry.key == "seeds" && study.crossed) entry.value = *study.crossed;
  }
  study.text = text_with_places(whole);
}

}  // namespace

void lay(const Value& layer, Tree& tree, ProblemList& problems) {
  static const Experiment kDefault;
  Reader(experiment_schema(), problems).lay(layer, options::slot_of(kDefault), tree);
}

std::map<std::string, std::string> origins_of(const Layered& run,
                                              const std::filesystem::path& file) {
  std::map<std::string, std::string> origins;
  for (const auto& leaf : leaves_of(run.experiment)) {
    const auto* found = run.tree.find(marked_path(leaf.path));
    origins[leaf.path] =
        found == nullptr ? kDefaultOrigin : origin(found->mark, run.tree.root.mark, file);
  }
  return origins;
}

ParsedStudy parse_study(const std::filesystem::path& file) {
  const auto source = read_source(file);
  ParsedStudy study{.file = file, .text = source->text};
  study.tree.root.mark = study.base.root.mark = {source, 0, 0};
  const auto documents = documents_of(source, study.problems);
  lay_documents(documents, study);
  check_keys(study);
  read_variations(study);
  if (study.given("match")) read_match(study);
  if (study.given("tune")) study.tuning = read_tuning(study.keys, study.tree, study.problems);
  check_tuned_keys(study);
  read_claims(study);
  check_crossed(study);
  return study;
}

namespace {

void lay_all(const std::vector<Value>& layers, Tree& tree, ProblemList& problems) {
  for (const auto& layer : layers) lay(layer, tree, problems);
}

/// The settings that --tasks and --sizes select together.
std::vector<std::string> chosen_settings(const ParsedStudy& study, const Selection& selection,
                                         ProblemList& problems) {
  std::vector<std::string> names = names_of(study.tasks), chosen;
  for (const auto& setting : study.settings)
    if (!is_selected(setting.task, names)) names.push_back(setting.task);
  const auto tasks = selected(names, selection.tasks, {"--tasks", "task"}, problems);
  const auto sizes =
      selected(names_of(study.sizes), selection.sizes, {"--sizes", "size"}, problems);
  for (const auto& setting : study.settings)
    if ((is_selected(setting.name, tasks) || is_selected(setting.task, tasks)) &&
        (selection.sizes.empty() || is_selected(setting.size, sizes)))
      chosen.push_back(setting.name);
  if (chosen.empty() && problems.empty())
    problems.add(list_mark("--sizes", selection.sizes),
                 "--tasks and --sizes name no setting together");
  return chosen;
}

/// Reports a value of the command line for a key that the grid or `tune` varies or `match` solves
/// for.
void check_sets(const ParsedStudy& study, const Value& sets, ProblemList& problems) {
  std::vector<std::string> keys;
  for (const auto& axis : study.keys.grid.entries) keys.push_back(axis.key);
  if (study.given("match.by")) keys.push_back(study.keys.match.by);
  if (study.tuning)
    for (const auto& key : study.tuning->keys) keys.push_back(key.path);
  for (const auto& key : keys)
    if (gives(sets, key))
      problems.add(sets.entries.front().mark,
                   fmt::format("--set cannot give {}, which the study varies itself", key));
}

/// Gives the task's arms as many parameters as its baseline has. A model that breaks a rule is left
/// as it is, and the check of its runs reports it.
void match_arms(const ParsedStudy& study, const Chosen& chosen, ExpandedTask& task,
                ProblemList& problems) {
  const auto& match = study.keys.match;
  const auto baseline = std::ranges::find(task.arms, study.compare ? study.compare->baseline : "",
                                          &ExpandedArm::name);
  if (match.parameters == MatchedWith::none || baseline == task.arms.end()) return;
  const auto mark = study.tree.place("match.by");
  if (!chosen.count)
    return problems.add(mark, "match needs the program that builds models, which this one is not");
  // The baseline may not be selected, but every run is matched with it as it would be run.
  ProblemList ignored;
  auto given = baseline->given;
  if (!baseline->selected) lay(chosen.sets, given, ignored);
  const auto reference = decoded(given, ignored);
  if (!has_size(reference.experiment)) return;
  const MatchGoal goal{reference.experiment, match.by, mark, chosen.count};
  for (auto& arm : task.arms) {
    const auto own = decoded(arm.given, ignored);
    if (!has_size(own.experiment)) continue;
    const bool wanted = match.arms.empty() ? own.experiment.training.trains() &&
                                                 differs_in_size(own.experiment, goal)
                                           : is_selected(arm.name, match.arms);
    if (wanted && arm.name != baseline->name)
      arm.matched = config::match(arm.given, arm.name, goal, problems);
  }
}

}  // namespace

Chosen chosen_of(const ParsedStudy& study, const Selection& selection, ProblemList& problems) {
  Chosen chosen;
  if (!study.given("seeds") && selection.seeds.empty() && study.readable("seeds"))
    problems.add(study.tree.place("seeds"), "missing key 'seeds'; write [1]");
  chosen.seeds = selection.seeds.empty() ? study.keys.seeds : selected_seeds(selection, problems);
  if (study.crossed) check_pairs(chosen.seeds, study, problems);
  if ((chosen.tuning = study.tuning))
    choose_seeds(*chosen.tuning, study.keys, chosen.seeds,
                 study.tree.place(study.given("tune.seeds") ? "tune.seeds" : "tune"), problems);
  chosen.sets = set_layer(selection.sets, problems);
  check_sets(study, chosen.sets, problems);
  chosen.tasks = chosen_settings(study, selection, problems);
  chosen.arms = selected(names_of(study.arms), selection.arms, {"--arms", "arm"}, problems);
  chosen.count = selection.count;
  return chosen;
}

ExpandedTask expand(const ParsedStudy& study, size_t setting, const Chosen& chosen,
                    ProblemList& problems) {
  const auto& task = study.tasks[setting];
  ExpandedTask expanded{.name = task.name,
                        .setting = study.settings[setting],
                        .selected = is_selected(task.name, chosen.tasks)};
  Tree of_task = study.base;
  lay_all(task.layers, of_task, problems);
  for (const auto& variation : study.arms) {
    const bool wanted = expanded.selected && is_selected(variation.name, chosen.arms);
    auto& arm = expanded.arms.emplace_back(ExpandedArm{variation.name, wanted, of_task, {}});
    lay_all(variation.layers, arm.given, problems);
    // Options of the command line need to be valid only for the selected arms.
    if (wanted) lay(chosen.sets, arm.given, problems);
  }
  if (problems.empty()) match_arms(study, chosen, expanded, problems);
  for (auto& arm : expanded.arms) arm.run = decoded(arm.given, problems);
  return expanded;
}

}  // namespace ablate::config
