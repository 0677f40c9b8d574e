#include "experiments/config/study/over_check.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "experiments/config/schema/metric.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/study/study.h"
#include "experiments/config/study/test_set_names.h"

namespace ablate::config {
namespace {

/// Why the numbers of the setting cannot be one over its lengths; empty if they can.
std::string why_not_over_lengths(const Comparison& comparison, const Setting& setting,
                                 const data::DataOptions& data) {
  const auto known = std::ssize(names_of_test_sets(data));
  if (known == 0)
    return fmt::format("test sets that have a length, and the task {} has none",
                       in_quotes(setting.task));
  const auto named = comparison.test_sets.find(setting.name);
  const auto chosen = named == comparison.test_sets.end() ? known : std::ssize(named->second);
  if (chosen >= 2) return {};
  return fmt::format("two lengths or more, and the task {} is compared on one; list more in {}",
                     in_quotes(setting.task),
                     known < 2 ? "its data" : "compare.test_sets, or leave it out there");
}

std::string why_not_over_tasks(const Comparison& comparison, const Setting& setting, size_t tasks) {
  if (tasks < 2) return "two tasks or more";
  const auto& metric = metric_of(comparison, setting.name);
  if (metric == comparison.metric) return {};
  return fmt::format(
      "one metric of all tasks, and the task {} is compared by {}; leave it out of "
      "compare.metrics",
      in_quotes(setting.task), metric);
}

/// What compare.over needs and the setting does not have; empty if it has everything.
std::string lacking(const Study& study, const Setting& setting, size_t tasks) {
  const auto& comparison = *study.declared_compare;
  const auto* metric = find_metric(metric_of(comparison, setting.name));
  if (metric != nullptr && metric->on.empty())
    return fmt::format("a metric of test sets, and {} is of whole runs", metric->name);
  if (comparison.over == Over::tasks) return why_not_over_tasks(comparison, setting, tasks);
  const auto* run = configuration_of(study.configurations, setting.name, comparison.baseline);
  return run == nullptr ? std::string()
                        : why_not_over_lengths(comparison, setting, run->experiment.data);
}

}  // namespace

void check_over(const Study& study, const Mark& mark, ProblemList& problems) {
  if (!study.declared_compare || study.declared_compare->over == Over::none) return;
  const StudyNames names{study.declared_settings, study.arms};
  std::set<std::string> told;
  for (const auto& setting : study.declared_settings)
    if (const auto why = lacking(study, setting, names.names_of_tasks().size());
        !why.empty() && told.insert(why).second)
      problems.add(mark, fmt::format("compare.over: {} needs {}",
                                     word_of(study.declared_compare->over), why));
}

}  // namespace ablate::config
