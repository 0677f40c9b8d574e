#include "experiments/config/comparison_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/printer.h"
#include "experiments/config/scalar.h"
#include "experiments/config/study.h"
#include "experiments/config/suggestion.h"

namespace ablate::experiments {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

/// Where a word stands and what it should be one of.
struct Place {
  const char* what;  // "arm"
  const char* key;
  Mark mark;
};

void require_known(const std::string& word, const std::vector<std::string>& known,
                   const Place& place, ProblemList& problems) {
  if (!contains(known, word))
    problems.add(place.mark, fmt::format("unknown {} {} in {}{}", place.what, in_quotes(word),
                                         place.key, did_you_mean(word, known)));
}

std::map<std::string, std::string> metrics_of_tasks(const Value& section,
                                                    const std::vector<std::string>& tasks,
                                                    ProblemList& problems) {
  std::map<std::string, std::string> found;
  if (section.type != Value::Type::mapping)
    problems.add(section.mark, "compare.metrics must be a mapping of tasks to metrics");
  for (const auto& entry : section.entries) {
    require_known(entry.key, tasks, {"task", "compare.metrics", entry.mark}, problems);
    require_known(entry.value.scalar, metrics(), {"metric", "compare.metrics", entry.value.mark},
                  problems);
    found[entry.key] = entry.value.scalar;
  }
  return found;
}

/// The first key by which the data differs; empty where it is the same.
std::string other_data(const Experiment& left, const Experiment& right) {
  for (const auto& difference : differences(left, right))
    if (difference.path.starts_with("data.")) return difference.path;
  return {};
}

}  // namespace

Comparison check_comparison(const CompareOptions& options, const StudyNames& names,
                            const Trail& trail, ProblemList& problems) {
  const auto given = [&](const char* key) { return trail.marks.contains(key); };
  const auto place = [&](const char* key) { return trail.place(key); };
  const auto readable = [&](const char* key) { return !trail.failed.contains(key); };
  if (!given("compare.baseline"))
    problems.add(place("compare.baseline"), "compare needs 'baseline', one of the arms");
  else if (readable("compare.baseline"))
    require_known(options.baseline, names.arms,
                  {"arm", "compare.baseline", place("compare.baseline")}, problems);
  if (!given("compare.metric"))
    problems.add(place("compare.metric"),
                 fmt::format("compare needs 'metric'; choose {}", alternatives(metrics())));
  else if (readable("compare.metric"))
    require_known(options.metric, metrics(), {"metric", "compare", place("compare.metric")},
                  problems);
  Comparison comparison{options.baseline, options.metric, {}, options.allow};
  if (given("compare.metrics"))
    comparison.metrics = metrics_of_tasks(options.metrics, names.tasks, problems);
  return comparison;
}

void check_even(const std::vector<ArmConfiguration>& arms, const Comparison& comparison,
                ProblemList& problems) {
  const auto baseline = std::ranges::find_if(arms, [&](const ArmConfiguration& arm) {
    return comparison.baseline == arm.arm || comparison.baseline == arm.arm + kTunedSuffix;
  });
  if (baseline == arms.end()) return;
  const auto& reference = *baseline->experiment;
  const auto refuse = [&](const ArmConfiguration& arm, const std::string& key, const char* name) {
    problems.add(arm.trail->place(key),
                 fmt::format("{} of the arm {} is not the baseline's; where that is meant, write "
                             "compare: {{ allow: [{}] }}",
                             key, in_quotes(arm.arm), name));
  };
  for (const auto& arm : arms) {
    const auto& experiment = *arm.experiment;
    if (experiment.training.steps != reference.training.steps && !allows(comparison, Uneven::steps))
      refuse(arm, "training.steps", "steps");
    if (experiment.training.budget != reference.training.budget &&
        !allows(comparison, Uneven::steps))
      refuse(arm, "training.budget", "steps");
    const auto key = other_data(experiment, reference);
    if (!key.empty() && !allows(comparison, Uneven::data)) refuse(arm, key, "data");
  }
}

}  // namespace ablate::experiments
