#include "experiments/config/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/config/schema/printer.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/study_change.h"
#include "experiments/config/study/study_check.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

constexpr size_t kMostRuns = 10'000;

std::string origin(const Mark& mark, const std::filesystem::path& file) {
  if (mark.source->name == kSetSource) return mark.source->name;
  return fmt::format("{}:{}", file.filename().string(), mark.line + 1);
}

/// The path in the trail of a value of all layers of a side: that of its first layer.
std::string marked_path(const std::string& leaf) {
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    const auto section = "model." + text_of(side);
    if (leaf.starts_with(section + ".")) return section_of(side, 1) + leaf.substr(section.size());
  }
  return leaf;
}

std::map<std::string, std::string> origins_of(const Layered& run,
                                              const std::filesystem::path& file) {
  std::vector<Leaf> leaves;
  collect_leaves(run.experiment, "", leaves);
  std::map<std::string, std::string> origins;
  for (const auto& leaf : leaves) {
    const auto found = run.trail.marks.find(marked_path(leaf.path));
    origins[leaf.path] =
        found == run.trail.marks.end() ? kDefaultOrigin : origin(found->second, file);
  }
  return origins;
}

std::vector<int64_t> tuning_seeds(const Study& study, const TuneOptions& tune) {
  if (!tune.seeds.empty()) return tune.seeds;
  const auto& seeds = study.declared_seeds.empty() ? study.seeds : study.declared_seeds;
  return {seeds.begin(), seeds.begin() + (seeds.empty() ? 0 : 1)};
}

/// Whether the task and all arms of the claim are selected; a tuned arm counts as its arm.
bool is_wanted(const Clause& clause, const Study& study) {
  const auto wanted = [&](const Term& term) {
    return !term.arm || is_selected(term.arm->arm, study.arms);
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
              .claims = claims_of(parsed.document)};
  if (parsed.compare && is_selected(parsed.compare->baseline.arm, study.arms))
    study.compare = parsed.compare;
  for (const auto& clause : parsed.expect)
    if (is_wanted(clause, study)) study.expect.push_back(clause);
  if (!parsed.tunes) return study;
  study.tuning = Tuning{
      .key = keys.tune.key, .metric = keys.tune.metric, .seeds = tuning_seeds(study, keys.tune)};
  for (const auto& value : keys.tune.values) study.tuning->values.push_back(value.scalar);
  return study;
}

void add_arm(const std::string& task, const ExpandedArm& arm, Study& study) {
  study.configurations.push_back({task, arm.name, arm.run.experiment});
  if (!is_selected(arm.name, study.arms)) return;
  const auto own = arm.tried.empty() ? std::string() : canonical(arm.run.experiment);
  for (const auto& [tried, run] : arm.tried) {
    const bool same = canonical(run.experiment) == own;
    study.tuning->candidates.push_back({task, arm.name, same ? arm.name : tried->change.name,
                                        tried->value, run.experiment, origins_of(run, study.file)});
  }
  if (!arm.selected) return;
  const auto origins = origins_of(arm.run, study.file);
  for (const int64_t seed : study.seeds)
    study.runs.push_back({task, arm.name, seed, arm.run.experiment, origins});
}

bool runs_fit(const ParsedStudy& parsed, const Study& study, ProblemList& problems) {
  const size_t seeds = std::max<size_t>(1, study.seeds.size());
  const size_t runs = parsed.tasks.size() * parsed.arms.size() * seeds;
  if (runs > kMostRuns)
    problems.add(parsed.trail.start,
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
  for (const auto& task : parsed.tasks) {
    const auto expanded = expand(parsed, task, chosen, problems);
    for (const auto& arm : expanded.arms) add_arm(task.name, arm, study);
    check.add(expanded, problems);
  }
  check.finish(problems);
  study.notes = check.notes();
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
