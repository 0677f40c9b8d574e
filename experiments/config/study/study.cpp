#include "experiments/config/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "experiments/config/study/curve.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/study_change.h"
#include "experiments/config/study/study_check.h"
#include "experiments/config/study/study_notes.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

constexpr size_t kMostRuns = 10'000;

/// Whether the task and all arms of the claim are selected.
bool is_wanted(const Clause& clause, const Study& study) {
  const auto wanted = [&](const Term& term) {
    return !term.arm || is_selected(*term.arm, study.arms);
  };
  return is_selected(clause.task, study.tasks) && wanted(clause.left) && wanted(clause.right);
}

/// The study without its runs.
Study outline(const ParsedStudy& parsed, const Selection& selection, Chosen chosen) {
  const auto& keys = parsed.keys;
  Study study{.name = keys.name,
              .question = keys.question,
              .time = keys.time,
              .file = parsed.file,
              .data_folder = selection.data_folder.value_or(parsed.file.parent_path()),
              .seeds = std::move(chosen.seeds),
              .tasks = std::move(chosen.tasks),
              .arms = std::move(chosen.arms),
              .declared_seeds = keys.seeds,
              .crossed = parsed.crossed.has_value(),
              .claims = claims_of(parsed.tree.root)};
  study.declared_settings = parsed.settings;
  for (const auto& setting : parsed.settings)
    if (is_selected(setting.name, study.tasks)) study.settings.push_back(setting);
  study.declared_compare = parsed.compare;
  if (parsed.compare && is_selected(parsed.compare->baseline, study.arms))
    study.compare = parsed.compare;
  for (const auto& clause : parsed.expect)
    if (is_wanted(clause, study)) study.expect.push_back(clause);
  study.tuning = std::move(chosen.tuning);
  return study;
}

void add_arm(const std::string& task, const ExpandedArm& arm, Study& study) {
  study.configurations.push_back({task, arm.name, arm.run.experiment});
  if (!arm.selected) return;
  if (study.tuning)
    study.tuning->arms.push_back({task, arm.name, std::make_shared<const Tree>(arm.given)});
  if (study.by_curve()) {
    std::ranges::move(runs_on_curve(study, study.tuning->arms.back()),
                      std::back_inserter(study.runs));
    return;
  }
  const auto origins = origins_of(arm.run, study.file);
  for (const int64_t seed : study.seeds)
    study.runs.push_back({task, arm.name, seed, arm.run.experiment, origins});
}

bool runs_fit(const ParsedStudy& parsed, const Study& study, ProblemList& problems) {
  const size_t seeds = std::max<size_t>(1, study.seeds.size());
  const size_t points = study.by_curve() ? study.tuning->keys.front().values.size() : 1;
  const size_t runs = parsed.tasks.size() * parsed.arms.size() * points * seeds;
  if (runs > kMostRuns)
    problems.add(parsed.tree.root.mark,
                 fmt::format("the study has {} runs; at most {} are possible", runs, kMostRuns));
  return runs <= kMostRuns;
}

}  // namespace

const Configuration* configuration_of(std::span<const Configuration> all, const std::string& task,
                                      const std::string& arm) {
  const auto found = std::ranges::find_if(
      all, [&](const auto& run) { return run.task == task && run.arm == arm; });
  return found == all.end() ? nullptr : &*found;
}

const Configuration* trained_by(std::span<const Configuration> all, const std::string& task,
                                const std::string& arm) {
  const auto* found = configuration_of(all, task, arm);
  if (found == nullptr) return nullptr;
  const auto& training = found->experiment.training;
  if (training.trains() || !training.init_from.arm) return found;
  // Arms start only from earlier arms, so the recursion ends.
  const auto before = all.first(static_cast<size_t>(found - all.data()));
  const auto* source = trained_by(before, task, *training.init_from.arm);
  return source == nullptr ? found : source;
}

Study make_study(const ParsedStudy& parsed, const Selection& selection, ProblemList& problems) {
  for (const auto& problem : parsed.problems.all()) problems.add(problem);
  const auto chosen = chosen_of(parsed, selection, problems);
  auto study = outline(parsed, selection, chosen);
  if (!runs_fit(parsed, study, problems)) return study;
  StudyCheck check(parsed, selection, study);
  for (size_t i = 0; i < parsed.settings.size(); ++i) {
    const auto expanded = expand(parsed, i, chosen, problems);
    for (const auto& arm : expanded.arms) add_arm(expanded.name, arm, study);
    check.add(expanded, problems);
  }
  check.finish(problems);
  study.notes = check.notes();
  std::ranges::move(notes_on_seeds(study), std::back_inserter(study.notes));
  return study;
}

Study make_study(const ParsedStudy& parsed, const Selection& selection) {
  ProblemList problems;
  auto study = make_study(parsed, selection, problems);
  problems.raise();
  return study;
}

Study read_study(const std::filesystem::path& file, const Selection& selection) {
  return make_study(parse_study(file), selection);
}

}  // namespace ablate::config
