#include "experiments/report/table/grid_parts.h"

#include <fmt/format.h>

#include "experiments/analysis/figure.h"

namespace ablate::report {

std::string with_deviation(const analysis::Sample& sample, const std::string& metric) {
  const auto mean = analysis::mean_figure(sample, metric);
  return sample.count < 2 || analysis::is_censored(sample)
             ? mean
             : fmt::format("{} ± {}", mean, analysis::format_metric(sample.deviation, metric));
}

std::string with_interval(const std::string& mean,
                          const std::optional<statistics::Interval>& interval,
                          const std::string& metric) {
  const auto ends = analysis::format_metric(interval, metric);
  return mean + (ends.empty() ? "" : " " + ends);
}

std::vector<const analysis::Cell*> test_sets_of(const analysis::ArmEvidence& arm) {
  std::vector<const analysis::Cell*> sets;
  for (const auto& cell : arm.cells)
    if (!cell.test_set.empty() && (sets.empty() || sets.back()->test_set != cell.test_set))
      sets.push_back(&cell);
  return sets;
}

std::string test_set_name(const analysis::Cell& cell) {
  return cell.test_set + (cell.extrapolates ? " (beyond)" : "");
}

bool is_compared_by(const analysis::TaskEvidence& task, const analysis::Cell& cell) {
  return cell.metric == task.metric;
}

std::string pooled_words(const analysis::Aggregate& aggregate) {
  return fmt::format("{} tasks{}", aggregate.tasks,
                     aggregate.settings == aggregate.tasks
                         ? ""
                         : fmt::format(" in {} settings", aggregate.settings));
}

}  // namespace ablate::report
