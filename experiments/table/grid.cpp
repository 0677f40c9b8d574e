#include "experiments/table/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/evidence/figure.h"
#include "experiments/records/folders.h"

namespace ablate::experiments {
namespace {

using Columns = std::vector<std::string>;

std::string with_deviation(const Sample& sample, const std::string& metric) {
  const auto mean = figure(sample.mean, metric);
  return sample.count < 2 ? mean : fmt::format("{} ± {}", mean, figure(sample.deviation, metric));
}

std::string with_interval(double mean, const std::optional<statistics::Interval>& interval,
                          const std::string& metric) {
  const auto ends = figure(interval, metric);
  return figure(mean, metric) + (ends.empty() ? "" : " " + ends);
}

const Cell* find_cell(const ArmEvidence& arm, const std::string& test_set,
                      const std::string& metric) {
  const auto found = std::ranges::find_if(arm.cells, [&](const Cell& cell) {
    return cell.test_set == test_set && cell.metric == metric;
  });
  return found == arm.cells.end() ? nullptr : &*found;
}

/// Cells of each test set, in order, one for each.
std::vector<const Cell*> test_sets_of(const ArmEvidence& arm) {
  std::vector<const Cell*> sets;
  for (const auto& cell : arm.cells)
    if (!cell.test_set.empty() && (sets.empty() || sets.back()->test_set != cell.test_set))
      sets.push_back(&cell);
  return sets;
}

/// The metrics that some test set has; loss says what perplexity does, unless it is asked for.
Columns metrics_of_task(const TaskEvidence& task) {
  Columns metrics;
  for (const auto& cell : task.arms.front().cells) {
    const bool said = cell.metric == "loss" && !cell.primary;
    if (!cell.test_set.empty() && !said &&
        std::ranges::find(metrics, cell.metric) == metrics.end() && cell.sample.count > 0)
      metrics.push_back(cell.metric);
  }
  return metrics;
}

/// Whether no arm's mean is better, as it is printed, and some arm's is worse.
bool is_best(const TaskEvidence& task, const Cell& cell) {
  const double sign = cell.direction == Direction::higher ? 1 : -1;
  bool some_worse = false;
  const auto mine = figure(cell.sample.mean, cell.metric);
  for (const auto& arm : task.arms) {
    const auto* other = find_cell(arm, cell.test_set, cell.metric);
    if (other == nullptr || other->sample.count == 0) continue;
    const bool alike = figure(other->sample.mean, cell.metric) == mine;
    if (!alike && sign * other->sample.mean > sign * cell.sample.mean) return false;
    some_worse = some_worse || !alike;
  }
  return some_worse && cell.sample.count > 0;
}

std::string test_set_name(const Cell& cell) {
  return cell.test_set + (cell.beyond ? " (beyond)" : "");
}

std::string parameters_of(const ArmEvidence& arm) {
  const auto all = count_figure(arm.parameters);
  return arm.active_parameters < arm.parameters
             ? fmt::format("{} of {}", count_figure(arm.active_parameters), all)
             : all;
}

void add_run_figures(GridRow& row, const ArmEvidence& arm) {
  row.push_back({parameters_of(arm)});
  row.push_back({fmt::format("{:.3g}", arm.flops_per_token / 1e6)});
  for (const char* metric : {"train_loss", "validation_perplexity"}) {
    const auto* cell = find_cell(arm, "", metric);
    row.push_back({cell == nullptr ? "-" : with_deviation(cell->sample, metric)});
  }
}

Grid scores_of(const TaskEvidence& task) {
  Grid grid{
      .title = task.name,
      .headings = {"arm", "test set", "parameters", "MFLOPs/token", "train loss", "valid. ppl"}};
  const auto metrics = metrics_of_task(task);
  for (const auto& metric : metrics) grid.headings.push_back(spoken(metric));
  for (const auto& arm : task.arms)
    for (const auto* set : test_sets_of(arm)) {
      const bool first = set == test_sets_of(arm).front();
      GridRow row{{first ? arm.name : ""}, {test_set_name(*set)}};
      if (first)
        add_run_figures(row, arm);
      else
        row.resize(row.size() + 4);
      for (const auto& metric : metrics) {
        const auto* cell = find_cell(arm, set->test_set, metric);
        row.push_back(cell == nullptr
                          ? GridCell{"-"}
                          : GridCell{with_deviation(cell->sample, metric), is_best(task, *cell)});
      }
      grid.rows.push_back(std::move(row));
    }
  return grid;
}

const char* words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "better";
    case Verdict::worse:
      return "worse";
    case Verdict::indistinguishable:
      return "not distinguishable";
    case Verdict::too_few_seeds:
      return "too few seeds";
    case Verdict::not_learned:
      return "not learned";
    case Verdict::uneven:
      return "other seeds";
    case Verdict::not_tested:
      return "not finite";
    case Verdict::secondary:
      return "";
  }
  return "";
}

GridRow difference_row(const ArmEvidence& arm, const Cell& cell, const TaskEvidence& task,
                       bool first) {
  GridRow row{
      {first ? arm.name : ""},
      {test_set_name(cell)},
      {std::to_string(cell.sample.count)},
      {with_interval(cell.sample.mean, cell.sample.interval, cell.metric), is_best(task, cell)}};
  if (cell.success) row.push_back({fmt::format("{}/{}", cell.success->solved, cell.success->runs)});
  if (!cell.contrast) {
    row.push_back({arm.baseline ? "baseline" : "-"});
    row.resize(row.size() + 3);
    return row;
  }
  const auto& contrast = *cell.contrast;
  for (auto text :
       {with_interval(contrast.mean, contrast.interval, cell.metric), p_figure(contrast.p),
        p_figure(contrast.holm_p), std::string(words_of(contrast.verdict))})
    row.push_back({std::move(text)});
  return row;
}

Grid differences_of(const TaskEvidence& task) {
  Grid grid{
      .title = fmt::format("{}: {}, mean and difference from the baseline with 95 % intervals",
                           task.name, spoken(task.metric)),
      .headings = {"arm", "test set", "n", spoken(task.metric)}};
  for (const auto& arm : task.arms) {
    bool first = true;
    for (const auto& cell : arm.cells) {
      if (!cell.primary) continue;
      if (cell.success && grid.headings.size() == 4) grid.headings.emplace_back("solved");
      grid.rows.push_back(difference_row(arm, cell, task, first));
      first = false;
    }
  }
  grid.headings.insert(grid.headings.end(), {"difference", "p", "Holm", "verdict"});
  return grid;
}

Grid aggregates_grid(const Evidence& evidence) {
  Grid grid{
      .title = fmt::format("over tasks: {} within the trained length, interquartile mean with "
                           "95 % interval",
                           spoken(evidence.metric)),
      .headings = {"arm", "interquartile mean", "P(improvement)"},
      .names = 1};
  for (const auto& aggregate : evidence.aggregates)
    grid.rows.push_back(
        {{aggregate.arm},
         {with_interval(aggregate.interquartile_mean, aggregate.interval, evidence.metric)},
         {aggregate.improvement ? fmt::format("{:.2f}", *aggregate.improvement) : "baseline"}});
  return grid;
}

}  // namespace

std::vector<Grid> grids_of(const Evidence& evidence) {
  std::vector<Grid> grids;
  for (const auto& task : evidence.tasks) {
    if (task.arms.empty() || test_sets_of(task.arms.front()).empty()) continue;
    grids.push_back(scores_of(task));
    if (evidence.baseline) grids.push_back(differences_of(task));
  }
  if (!evidence.aggregates.empty()) grids.push_back(aggregates_grid(evidence));
  return grids;
}

std::vector<std::string> remarks_of(const Evidence& evidence) {
  std::vector<std::string> remarks;
  for (const auto& one : evidence.expectations)
    remarks.push_back(fmt::format("expected: {}: {} ({})", one.text,
                                  one.holds ? "holds" : "does NOT hold", one.numbers));
  for (const auto& run : evidence.missing)
    remarks.push_back(
        fmt::format("missing: {}: {}", label(run.task, run.arm, run.seed), run.reason));
  remarks.insert(remarks.end(), evidence.notes.begin(), evidence.notes.end());
  return remarks;
}

}  // namespace ablate::experiments
