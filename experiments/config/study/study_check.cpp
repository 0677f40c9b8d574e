#include "experiments/config/study/study_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/printer.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/schema/rules.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/claim_check.h"
#include "experiments/config/study/comparison_check.h"
#include "experiments/config/study/cost_target.h"
#include "experiments/config/study/curve.h"
#include "experiments/config/study/start_check.h"

namespace ablate::config {
bool RunCheck::add(const StudyNotes::Place& run, const Experiment& experiment, const Tree& tree) {
  ++runs_;
  std::vector<BrokenRule> broken;
  collect_broken_rules(options::slot_of(experiment), "", broken);
  for (const auto& [mark, message] : rule_problems(experiment.model, broken, tree)) {
    auto& breach = breaches_[{mark.source->name, mark.line, mark.column, message}];
    if (breach.runs++ == 0) {
      breach.mark = mark;
      breach.first = run;
    }
  }
  return broken.empty();
}

void RunCheck::report(ProblemList& problems) const {
  for (const auto& [key, breach] : breaches_) {
    const auto& message = std::get<3>(key);
    const auto more = breach.runs > 1 ? fmt::format(", and {} more", breach.runs - 1) : "";
    const auto where =
        breach.runs == runs_
            ? ""
            : fmt::format(" (task '{}', arm '{}'{})", breach.first.task, breach.first.arm, more);
    problems.add(breach.mark, message + where);
  }
}

namespace {

constexpr const char* kStartArm = "training.init_from.arm";

/// Reports an arm that starts from one that is not selected, whose tuned values it needs, and an
/// arm that only evaluates a run of another study, which has no values to tune.
void check_tunable(const ExpandedArm& arm, const std::vector<std::string>& selected,
                   ProblemList& problems) {
  const auto& training = arm.run.experiment.training;
  const auto& from = training.init_from.arm;
  if (from && !is_selected(*from, selected))
    problems.add(arm.run.tree.place(kStartArm),
                 fmt::format("the arm {} starts from {} with the values that tune finds for it; "
                             "select that arm, too",
                             in_quotes(arm.name), in_quotes(*from)));
  else if (!from && !training.trains())
    problems.add(arm.run.tree.place("training.steps"),
                 fmt::format("the arm {} only evaluates a finished run (training.steps: 0), so "
                             "nothing can be tuned for it; give such arms a study without tune",
                             in_quotes(arm.name)));
}

void report(const std::vector<training::TrainingProblem>& found, const ExpandedTask& task,
            const ExpandedArm& arm, ProblemList& problems) {
  for (const auto& [key, why] : found) {
    const auto path = join_path("training", key);
    problems.add(arm.run.tree.place(path),
                 fmt::format("{} {} (task '{}', arm '{}')", path, why, task.name, arm.name));
  }
}

}  // namespace

StudyCheck::StudyCheck(const ParsedStudy& parsed, const Selection& selection, const Study& study)
    : parsed_(parsed), selection_(selection), study_(study), files_(study.data_folder) {}

void StudyCheck::add(const ExpandedTask& task, ProblemList& problems) {
  for (const auto& arm : task.arms) check_arm(task, arm, problems);
  if (study_.tuning) check_tuning(task, problems);
  if (study_.compare) check_comparison(task, problems);
  if (!task.setting.size.empty() && parsed_.problems.empty()) check_size(task, problems);
}

/// Reports a size in which an arm is as it is in an earlier one.
void StudyCheck::check_size(const ExpandedTask& task, ProblemList& problems) {
  const auto& [name, declared, size, grid] = task.setting;
  for (const auto& arm : task.arms) {
    std::string key = fmt::format("{}\n{}\n", declared, arm.name);
    for (const auto& point : grid) key += fmt::format("{}={}\n", point.key, point.value);
    const auto [found, fresh] = sizes_.try_emplace(key + canonical(arm.run.experiment), size);
    if (fresh) continue;
    const auto* entry = parsed_.keys.sizes.find(size);
    problems.add(entry == nullptr ? parsed_.tree.place("sizes") : entry->mark,
                 fmt::format("the sizes {} and {} coincide: {}/{} has the same configuration in "
                             "both; change one, or take out what hides their difference",
                             in_quotes(found->second), in_quotes(size), declared, arm.name));
    return;
  }
}

void StudyCheck::finish(ProblemList& problems) const {
  check_measured(study_, parsed_.tree.place("expect"), problems);
  check_over(study_, parsed_.tree.place("compare.over"), problems);
  check_tokens(study_, parsed_.tree, problems);
  rules_.report(problems);
}

void StudyCheck::check_arm(const ExpandedTask& task, const ExpandedArm& arm,
                           ProblemList& problems) {
  const auto& [experiment, tree] = arm.run;
  report_missing(experiment_schema(), tree, problems);
  check_start(task, arm, problems);
  const bool sound = rules_.add({task.name, arm.name}, experiment, tree);
  if (!arm.selected) return;
  if (sound && tree.failed().empty() && selection_.parts)
    report(selection_.parts(experiment), task, arm, problems);
  notes_.add({task.name, arm.name}, experiment, tree);
  if (arm.matched) notes_.add_match({task.name, arm.name}, parsed_.keys.match.by, *arm.matched);
  if (selection_.with_files) files_.add(experiment, tree, problems);
}

void StudyCheck::check_tuning(const ExpandedTask& task, ProblemList& problems) {
  for (const auto& arm : task.arms) {
    if (!arm.selected) continue;
    check_tunable(arm, study_.arms, problems);
    if (study_.by_curve()) check_on_curve(arm, problems);
    for (const auto& combination : combinations(declared_axes(*study_.tuning))) {
      const auto run = with_values(arm.given, *study_.tuning, combination, problems);
      rules_.add({task.name, name_of(arm.name, *study_.tuning, combination)}, run.experiment,
                 run.tree);
    }
  }
  const bool chosen_by_test = std::ranges::any_of(task.arms, [](const ExpandedArm& arm) {
    return data::tests_on_validation(arm.run.experiment.data);
  });
  if (task.selected && chosen_by_test && !study_.tuning->on_test_text)
    problems.add(
        parsed_.tree.place("tune"),
        fmt::format(
            "tune would choose values on the test text, since {} has no separate test text; {}",
            in_quotes(task.name), data::kOwnTest));
}

/// An arm starts only from an earlier arm, which excludes cycles.
void StudyCheck::check_start(const ExpandedTask& task, const ExpandedArm& arm,
                             ProblemList& problems) const {
  const auto& tree = arm.run.tree;
  const auto& from = arm.run.experiment.training.init_from.arm;
  if (!from || !tree.readable(kStartArm)) return;
  const auto names = names_of(parsed_.arms);
  if (!require_known(*from, names, {"arm", kStartArm, tree.place(kStartArm)}, problems)) return;
  if (std::ranges::find(names, *from) < std::ranges::find(names, arm.name))
    check_source(task, arm, problems);
  else
    problems.add(
        tree.place(kStartArm),
        fmt::format("the arm {} cannot start from {}, which must come before it in the file",
                    in_quotes(arm.name), in_quotes(*from)));
}

/// Reports why the arm cannot start from the other one. An arm that is not selected may have been
/// run with other options, so it is checked only when the run starts.
void StudyCheck::check_source(const ExpandedTask& task, const ExpandedArm& arm,
                              ProblemList& problems) const {
  const auto& from = *arm.run.experiment.training.init_from.arm;
  if (!is_selected(from, study_.arms)) return;
  const auto& source = *std::ranges::find(task.arms, from, &ExpandedArm::name);
  report(start_problems(arm.run.experiment, source.run.experiment), task, arm, problems);
}

void StudyCheck::check_comparison(const ExpandedTask& task, ProblemList& problems) const {
  if (!task.selected) return;
  check_even(task, study_, problems);
  check_tests(parsed_, task, problems);
  if (!study_.compare->cost_to) return;
  for (const auto& [name, selected, given, run, matched] : task.arms)
    if (selected) check_validated(run.experiment, run.tree, problems);
}

}  // namespace ablate::config
