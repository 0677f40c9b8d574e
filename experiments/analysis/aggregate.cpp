#include "experiments/analysis/aggregate.h"

#include <algorithm>
#include <cmath>

#include "experiments/analysis/claims.h"
#include "experiments/analysis/sample.h"
#include "experiments/analysis/statistics/aggregate.h"
#include "experiments/analysis/statistics/mean.h"

namespace ablate::analysis {
namespace {

/// The cells of one arm, one for each task; empty where a task has none or no run has finished.
std::vector<const Cell*> cells_over_tasks(const std::vector<const TaskEvidence*>& tasks, size_t arm,
                                          const std::string& metric) {
  std::vector<const Cell*> cells;
  for (const auto* task : tasks) {
    const auto* cell = cell_within(task->arms[arm], metric);
    if (cell == nullptr || cell->sample.count == 0) return {};
    cells.push_back(cell);
  }
  return cells;
}

Aggregate aggregate_of(const std::string& arm, const std::vector<const Cell*>& cells) {
  statistics::TaskScores scores;
  std::vector<double> improvements;
  for (const auto* cell : cells) {
    scores.push_back(finished_values(cell->sample));
    if (cell->contrast) improvements.push_back(cell->contrast->improvement);
  }
  Aggregate aggregate{.arm = arm,
                      .interquartile_mean = statistics::interquartile_mean(scores),
                      .interval = statistics::interquartile_interval(scores)};
  if (improvements.size() == cells.size()) aggregate.improvement = statistics::mean(improvements);
  return aggregate;
}

}  // namespace

std::vector<Aggregate> aggregates_of(const Evidence& evidence) {
  const auto* metric = config::find_metric(evidence.metric);
  if (metric == nullptr || !std::isfinite(metric->high)) return {};
  std::vector<const TaskEvidence*> tasks;
  for (const auto& task : evidence.tasks)
    if (!task.metric.empty() && task.metric == evidence.metric) tasks.push_back(&task);
  if (tasks.size() < 2) return {};
  std::vector<Aggregate> aggregates;
  for (size_t arm = 0; arm < tasks.front()->arms.size(); ++arm)
    if (const auto cells = cells_over_tasks(tasks, arm, evidence.metric); !cells.empty())
      aggregates.push_back(aggregate_of(tasks.front()->arms[arm].name, cells));
  return aggregates;
}

}  // namespace ablate::analysis
