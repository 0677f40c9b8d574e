#include "experiments/config/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <memory>
#include <set>
#include <utility>

#include "experiments/config/arm.h"
#include "experiments/config/comparison_check.h"
#include "experiments/config/document.h"
#include "experiments/config/file_check.h"
#include "experiments/config/layer_changes.h"
#include "experiments/config/leaf.h"
#include "experiments/config/overlay.h"
#include "experiments/config/printer.h"
#include "experiments/config/run_check.h"
#include "experiments/config/scalar.h"
#include "experiments/config/selection.h"
#include "experiments/config/start_check.h"
#include "experiments/config/study_file.h"
#include "experiments/config/study_notes.h"
#include "experiments/config/study_schema.h"
#include "experiments/config/suggestion.h"

namespace ablate::config {
namespace {

constexpr size_t kMostRuns = 10'000;

struct Layered {
  Experiment experiment;
  Trail trail;
};

std::string origin(const Mark& mark) {
  if (mark.source->name == kSetSource) return mark.source->name;
  return fmt::format("{}:{}", std::filesystem::path(mark.source->name).filename().string(),
                     mark.line + 1);
}

/// Where the trail has what a leaf says of all layers of a side: at the first of them.
std::string marked_path(const std::string& leaf) {
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    const auto section = "model." + text_of(side);
    if (leaf.starts_with(section + ".")) return section_of(side, 1) + leaf.substr(section.size());
  }
  return leaf;
}

std::map<std::string, std::string> origins_of(const Layered& run) {
  std::vector<Leaf> leaves;
  collect_leaves(run.experiment, "", leaves);
  std::map<std::string, std::string> origins;
  for (const auto& leaf : leaves) {
    const auto found = run.trail.marks.find(marked_path(leaf.path));
    origins[leaf.path] = found == run.trail.marks.end() ? kDefaultOrigin : origin(found->second);
  }
  return origins;
}

/// Turns one study file and one selection into runs; every step adds its problems to one list.
class StudyBuilder {
 public:
  StudyBuilder(const std::filesystem::path& file, const Selection& selection)
      : source_(read_source(file)), selection_(selection) {
    study_.file = file;
    study_.data_folder = selection.data_folder.value_or(file.parent_path());
    files_ = FileCheck(study_.data_folder);
    trail_.start = {source_, 0, 0};
  }

  Study build() {
    const auto document = parse_mapping(source_, problems_);
    Reader(schema_, problems_, trail_).lay_over(document, file_);
    if (const auto* expect = document.find("expect")) expectations_ = expect->value.items;
    read_plain_keys();
    read_tasks_and_arms();
    study_.tasks = selected(names_of(tasks_), selection_.tasks, {"--tasks", "task"}, problems_);
    study_.arms = selected_arms();
    check_claims();
    if (runs_fit()) {
      lay_layers();
      check_measured(study_, trail_.place("expect"), problems_);
      check_tokens(
          study_,
          {trail_.place("compare.metric"), trail_.place("expect"), trail_.place("tune.key")},
          problems_);
    }
    check_.report(problems_);
    problems_.raise();
    study_.notes = notes_.sentences();
    return std::move(study_);
  }

 private:
  bool given(const std::string& key) const { return trail_.marks.contains(key); }
  bool readable(const std::string& key) const { return !trail_.failed.contains(key); }

  void need(bool holds, const std::string& key, const std::string& why) {
    if (!holds && readable(key)) problems_.add(trail_.place(key), why);
  }

  void read_plain_keys() {
    need(given("name"), "name", "missing key 'name'; it names the output folder");
    need(given("seeds") || !selection_.seeds.empty(), "seeds", "missing key 'seeds'; write [1]");
    if (given("name") && readable("name"))
      check_name(file_.name, "study", trail_.place("name"), problems_);
    if (given("seeds") && readable("seeds"))
      check_seeds(file_.seeds, trail_.place("seeds"), problems_);
    need(std::ranges::find(file_.expect, "") == file_.expect.end(), "expect",
         "expect holds an empty text");
    study_.name = file_.name;
    study_.question = file_.question;
    study_.time = file_.time;
    study_.declared_seeds = file_.seeds;
    study_.seeds = selection_.seeds.empty() ? file_.seeds : selected_seeds(selection_, problems_);
  }

  void read_tasks_and_arms() {
    sets_ = set_layer(selection_.sets, problems_);
    if (given("tasks")) tasks_ = variations(file_.tasks, "task", problems_);
    if (given("arms")) arms_ = variations(file_.arms, "arm", problems_);
    if (given("grid")) arms_ = multiplied(arms_, file_.grid, problems_);
    if (arms_.empty()) arms_.push_back({.name = "base"});
    if (given("tune")) read_tuning();
    if (given("base")) lay(file_.base, base_, true);
    base_.trail.start = trail_.start;
    if (tasks_.empty()) tasks_.push_back({.name = name_of_base_task()});
  }

  /// Every arm with every value becomes an arm that runs only where it is named.
  void read_tuning() {
    need(given("tune.key"), "tune", "tune needs 'key', a dotted path below base");
    need(given("tune.values"), "tune", "tune needs 'values', a list of values to try");
    for (const auto& arm : arms_)
      if (arm.name.ends_with(kTunedSuffix))
        problems_.add(arm.mark, fmt::format("no arm may end in {} in a study that tunes: that is "
                                            "how the arms with the best values are called",
                                            kTunedSuffix));
    if (!given("tune.key") || !given("tune.values") || !readable("tune.values")) return;
    need(!file_.tune.values.empty(), "tune.values", "tune.values must list at least one value");
    if (file_.tune.values.empty()) return;
    if (given("tune.seeds") && readable("tune.seeds"))
      check_seeds(file_.tune.seeds, trail_.place("tune.seeds"), problems_);
    std::vector<Variation> bare;
    for (const auto& arm : arms_) bare.push_back({.name = arm.name, .mark = arm.mark});
    const Value values{
        .type = Value::Type::list, .items = file_.tune.values, .mark = trail_.place("tune.values")};
    Value grid{.type = Value::Type::mapping, .mark = values.mark};
    grid.entries.push_back({file_.tune.key, trail_.place("tune.key"), values});
    candidates_ = multiplied(bare, grid, problems_);
    study_.tuning = Tuning{
        .key = file_.tune.key, .values = {}, .metric = file_.tune.metric, .seeds = tuning_seeds()};
    for (const auto& value : values.items) study_.tuning->values.push_back(value.scalar);
  }

  /// The arms that results are compared of: those of the file, and each at its best value.
  std::vector<std::string> compared_arms() const {
    auto names = names_of(arms_);
    if (study_.tuning)
      for (const auto& arm : arms_) names.push_back(arm.name + kTunedSuffix);
    return names;
  }

  std::vector<int64_t> tuning_seeds() const {
    if (!file_.tune.seeds.empty()) return file_.tune.seeds;
    const auto& seeds = study_.declared_seeds.empty() ? study_.seeds : study_.declared_seeds;
    return {seeds.begin(), seeds.begin() + (seeds.empty() ? 0 : 1)};
  }

  std::vector<std::string> selected_arms() {
    return selected(names_of(arms_), selection_.arms, {"--arms", "arm"}, problems_);
  }

  std::string name_of_base_task() const {
    if (!base_.trail.marks.contains("data.task")) return "task";
    return std::visit([](const auto& task) { return std::string(task.name); },
                      base_.experiment.data);
  }

  void check_claims() {
    const StudyNames names{names_of(tasks_), compared_arms()};
    if (given("compare")) {
      auto comparison = check_comparison(file_.compare, names, trail_, problems_);
      if (is_compared(comparison.baseline)) study_.compare = std::move(comparison);
    }
    for (const auto& item : expectations_) {
      if (item.type != Value::Type::scalar || item.scalar.empty()) continue;  // already reported
      auto clause = read_clause(item, names, problems_);
      if (is_wanted(clause)) study_.expect.push_back(std::move(clause));
    }
  }

  /// Whether the arm, or that whose best value it has, is selected.
  bool is_compared(const std::string& arm) const {
    return std::ranges::any_of(study_.arms, [&](const std::string& own) {
      return arm == own || (study_.tuning && arm == own + kTunedSuffix);
    });
  }

  bool is_wanted(const Clause& clause) const {
    const auto wanted = [&](const Term& term) { return term.arm.empty() || is_compared(term.arm); };
    return is_selected(clause.task, study_.tasks) && wanted(clause.left) && wanted(clause.right);
  }

  bool runs_fit() {
    const size_t runs = tasks_.size() * arms_.size() * std::max<size_t>(1, study_.seeds.size());
    if (runs > kMostRuns)
      problems_.add(trail_.start,
                    fmt::format("the study has {} runs; at most {} are possible", runs, kMostRuns));
    return runs <= kMostRuns;
  }

  void lay_layers() {
    for (const auto& task : tasks_) {
      Layered of_task = base_;
      for (const auto& layer : task.layers) lay(layer, of_task, false);
      std::list<Layered> compared;
      std::vector<ArmConfiguration> configurations;
      for (const auto& arm : arms_) {
        Layered run = of_task;
        for (const auto& layer : arm.layers) lay(layer, run, false);
        const bool wanted =
            is_selected(task.name, study_.tasks) && is_selected(arm.name, study_.arms);
        // Options of the command line may fit the selected arms alone.
        if (wanted) lay(sets_, run, false);
        lay_changes(run.experiment.model, run.trail, problems_);
        report_missing(schema_of_run_, run.trail, problems_);
        check_start(task.name, arm.name, run);
        check_.add({task.name, arm.name}, run.experiment, run.trail);
        study_.configurations.push_back({task.name, arm.name, run.experiment});
        if (is_selected(task.name, study_.tasks)) lay_candidates(task.name, arm.name, run);
        if (!wanted) continue;
        notes_.add({task.name, arm.name}, run.experiment, run.trail);
        if (selection_.with_files) files_.add(run.experiment, run.trail, problems_);
        add_runs(task.name, arm.name, run);
        compared.push_back(std::move(run));
        configurations.push_back(
            {arm.name, &compared.back().experiment, &compared.back().trail, nullptr});
      }
      if (!study_.compare || configurations.empty()) continue;
      for (auto& arm : configurations)
        arm.trained = trained_by(study_.configurations, task.name, arm.arm);
      check_even(configurations, *study_.compare, problems_);
      check_tests(file_.compare, {task.name, compared.front().experiment.data}, trail_, problems_);
    }
  }

  /// The arm with each value of the tuned key, which wins over all others.
  void lay_candidates(const std::string& task, const std::string& arm, const Layered& run) {
    const auto base = canonical(run.experiment);
    check_selection(task, run);
    size_t index = 0;
    for (const auto& value : candidates_) {
      if (!value.name.starts_with(arm + "-" + file_.tune.key + "=")) continue;
      const auto number = index++;
      Layered candidate = run;
      for (const auto& layer : value.layers) lay(layer, candidate, false);
      lay_changes(candidate.experiment.model, candidate.trail, problems_);
      check_.add({task, value.name}, candidate.experiment, candidate.trail);
      if (!is_selected(arm, study_.arms)) continue;
      const bool same = canonical(candidate.experiment) == base;
      study_.tuning->candidates.push_back({task, arm, same ? arm : value.name, number,
                                           candidate.experiment, origins_of(candidate)});
    }
  }

  void lay(const Value& layer, Layered& run, bool dotted) {
    if (run.trail.start.source == nullptr) run.trail.start = trail_.start;
    const auto values = dotted ? nested(layer, problems_) : layer;
    Reader(schema_of_run_, problems_, run.trail).lay_over(values, run.experiment);
  }

  /// An arm starts from one that stands before it, so that no circle can close.
  void check_start(const std::string& task, const std::string& arm, const Layered& run) {
    const auto& from = run.experiment.training.init_from.arm;
    check_tuned(arm, run);
    if (!from || run.trail.failed.contains("training.init_from.arm")) return;
    const auto names = names_of(arms_);
    const auto found = std::ranges::find(names, *from);
    if (found < std::ranges::find(names, arm)) return check_parts(task, *from, arm, run);
    const auto place = run.trail.place("training.init_from.arm");
    problems_.add(place, found == names.end()
                             ? fmt::format("unknown arm {} in training.init_from.arm{}",
                                           in_quotes(*from), did_you_mean(*from, names))
                             : fmt::format("the arm {} cannot start from {}, which must stand "
                                           "before it in the file",
                                           in_quotes(arm), in_quotes(*from)));
  }

  /// The arm can start from the other one as it says. One that is not selected may have been run
  /// with options of another command line, so only its run can tell.
  void check_parts(const std::string& task, const std::string& from, const std::string& arm,
                   const Layered& run) {
    const auto source = std::ranges::find_if(
        study_.configurations,
        [&](const Configuration& other) { return other.task == task && other.arm == from; });
    if (source == study_.configurations.end() || !is_selected(from, study_.arms)) return;
    for (const auto& [key, why] : start_problems(run.experiment, source->experiment)) {
      const auto path = join_path("training.init_from", key);
      problems_.add(run.trail.place(path),
                    fmt::format("{} {} (task '{}', arm '{}')", path, why, task, arm));
    }
  }

  /// Nothing is chosen by the text that also tests it.
  void check_selection(const std::string& task, const Layered& run) {
    if (!study_.tuning || !data::tests_on_validation(run.experiment.data)) return;
    if (!tested_on_validation_.insert(task).second) return;
    problems_.add(trail_.place("tune"),
                  fmt::format("tune would choose values by the text that tests them, since {} has "
                              "no test text of its own; {}",
                              in_quotes(task), data::kOwnTest));
  }

  /// No value of the tuned key, but for those of init_from, changes an arm that does not train.
  void check_tuned(const std::string& arm, const Layered& run) {
    const auto& training = run.experiment.training;
    if (!study_.tuning || training.trains() || !training.init_from.given() ||
        study_.tuning->key.starts_with("training.init_from."))
      return;
    problems_.add(run.trail.place("training.steps"),
                  fmt::format("the arm {} is only evaluated (training.steps: 0), so {} cannot be "
                              "tuned for it; give such arms a study without tune",
                              in_quotes(arm), study_.tuning->key));
  }

  void add_runs(const std::string& task, const std::string& arm, const Layered& run) {
    const auto origins = origins_of(run);
    for (const int64_t seed : study_.seeds)
      study_.runs.push_back({task, arm, seed, run.experiment, origins});
  }

  std::shared_ptr<const Source> source_;
  const Selection& selection_;
  const Schema& schema_ = study_schema();
  const Schema& schema_of_run_ = experiment_schema();
  ProblemList problems_;
  Trail trail_;
  StudyFile file_;
  std::vector<Value> expectations_;
  Layered base_;
  std::vector<Variation> tasks_, arms_, candidates_;
  std::set<std::string> tested_on_validation_;  // tasks
  Value sets_;
  RunCheck check_;
  StudyNotes notes_;
  FileCheck files_;
  Study study_;
};

}  // namespace

const Configuration* configuration_of(std::span<const Configuration> all, const std::string& task,
                                      const std::string& arm) {
  const auto found = std::ranges::find_if(
      all, [&](const Configuration& one) { return one.task == task && one.arm == arm; });
  return found == all.end() ? nullptr : &*found;
}

const Configuration* trained_by(std::span<const Configuration> all, const std::string& task,
                                const std::string& arm) {
  const auto* found = configuration_of(all, task, arm);
  if (found == nullptr) return nullptr;
  const auto& training = found->experiment.training;
  if (training.trains() || !training.init_from.arm) return found;
  // An arm starts from one before it, so this ends.
  const auto before = all.first(static_cast<size_t>(found - all.data()));
  const auto* source = trained_by(before, task, *training.init_from.arm);
  return source == nullptr ? found : source;
}

Study read_study(const std::filesystem::path& file, const Selection& selection) {
  return StudyBuilder(file, selection).build();
}

}  // namespace ablate::config
