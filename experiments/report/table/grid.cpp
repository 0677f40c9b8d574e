#include "experiments/report/table/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/analysis/cost.h"
#include "experiments/analysis/figure.h"
#include "experiments/report/markup.h"

namespace ablate::report {
namespace {

/// Metrics of test sets that an arm has a value of, or else of training and validation.
std::vector<const analysis::Cell*> first_cells(const analysis::TaskEvidence& task, bool of_run,
                                               bool all_metrics) {
  const auto has_values = [&](const analysis::Cell& cell) {
    return std::ranges::any_of(task.arms, [&](const analysis::ArmEvidence& arm) {
      const auto* own = analysis::find_cell(arm, cell.test_set, cell.metric);
      return own != nullptr && own->sample.count > 0;
    });
  };
  std::vector<const analysis::Cell*> cells;
  for (const auto& cell : task.arms.front().cells)
    if (cell.test_set.empty() == of_run && (all_metrics || cell.in_tables) &&
        (of_run || all_metrics || has_values(cell)) &&
        std::ranges::find(cells, cell.metric, &analysis::Cell::metric) == cells.end())
      cells.push_back(&cell);
  return cells;
}

std::vector<const analysis::Cell*> test_sets_of(const analysis::ArmEvidence& arm) {
  std::vector<const analysis::Cell*> sets;
  for (const auto& cell : arm.cells)
    if (!cell.test_set.empty() && (sets.empty() || sets.back()->test_set != cell.test_set))
      sets.push_back(&cell);
  return sets;
}

std::vector<GridColumn> columns_of(std::initializer_list<const char*> headings) {
  std::vector<GridColumn> columns{{.heading = "arm", .holds = Holds::arms}};
  for (const auto* heading : headings) columns.push_back({heading});
  return columns;
}

/// "-" if no run was trained.
std::string mean_cost(const analysis::Sample& sample, const char* unit = "") {
  return sample.count > 0 && sample.mean > 0 ? large(sample.mean) + unit : "-";
}

}  // namespace

Grid without_empty_columns(const Grid& grid) {
  Grid result{
      .title = grid.title, .rows = std::vector<GridRow>(grid.rows.size()), .note = grid.note};
  for (size_t column = 0; column < grid.columns.size(); ++column) {
    const auto is_empty = [&](const GridRow& row) {
      return row[column].text.empty() && !row[column].strip;
    };
    if (grid.columns[column].holds != Holds::names && std::ranges::all_of(grid.rows, is_empty))
      continue;
    result.columns.push_back(grid.columns[column]);
    for (size_t row = 0; row < grid.rows.size(); ++row)
      result.rows[row].push_back(grid.rows[row][column]);
  }
  return result;
}

std::string leading_metric(const analysis::TaskEvidence& task) {
  for (const auto& metric : {task.metric, task.declared_metric})
    if (!metric.empty()) return metric;
  const bool any = !task.arms.empty() && !task.arms.front().cells.empty();
  return any ? task.arms.front().cells.front().metric : "";
}

std::string test_set_name(const analysis::Cell& cell) {
  return cell.test_set + (cell.extrapolates ? " (beyond)" : "");
}

GridCell score_cell(const analysis::ArmEvidence& arm, const std::string& test_set,
                    const std::string& metric) {
  const auto* cell = analysis::find_cell(arm, test_set, metric);
  if (cell == nullptr) return {"-"};
  auto figure = analysis::mean_figure(cell->sample, metric);
  if (cell->sample.count > 1 && !analysis::has_bounds(cell->sample))
    figure += " ± " + analysis::format_metric(cell->sample.deviation, metric);
  return {.text = std::move(figure), .best = cell->best};
}

std::string pooled_words(const analysis::Aggregate& aggregate) {
  return fmt::format("{} tasks{}", aggregate.tasks,
                     aggregate.settings == aggregate.tasks
                         ? ""
                         : fmt::format(" in {} settings", aggregate.settings));
}

Grid score_grid(const analysis::TaskEvidence& task, bool all_metrics) {
  Grid grid{.title = task.name,
            .columns = {{.heading = "arm", .holds = Holds::arms},
                        {.heading = "test set", .holds = Holds::names}}};
  const auto of_run = first_cells(task, true, all_metrics);
  const auto of_sets = first_cells(task, false, all_metrics);
  for (const auto* cell : of_run) {
    const auto* metric = config::find_metric(cell->metric);
    grid.columns.push_back(
        {metric == nullptr ? analysis::display_name(cell->metric) : metric->heading});
  }
  for (const auto* cell : of_sets) grid.columns.push_back({analysis::display_name(cell->metric)});
  for (const auto& arm : task.arms) {
    auto sets = test_sets_of(arm);
    if (sets.empty()) sets.push_back(nullptr);
    for (const auto* set : sets) {
      GridRow row{{arm.name}, {set == nullptr ? "" : test_set_name(*set)}};
      for (const auto* cell : of_run)
        row.push_back({set == sets.front() ? score_cell(arm, "", cell->metric).text : ""});
      for (const auto* cell : of_sets) row.push_back(score_cell(arm, set->test_set, cell->metric));
      grid.rows.push_back(std::move(row));
    }
  }
  return grid;
}

Grid cost_grid(const analysis::TaskEvidence& task) {
  Grid grid{.title = task.name + ": costs of training",
            .columns = columns_of({"parameters", "FLOPs/predicted token", "steps", "target tokens",
                                   "FLOPs", "seconds", "tokens/s", "memory"})};
  for (const auto& arm : task.arms)
    grid.rows.push_back({{arm.name},
                         {analysis::parameters_figure(arm)},
                         {arm.flops_per_token > 0 ? large(arm.flops_per_token) : "-"},
                         {mean_cost(arm.steps)},
                         {mean_cost(arm.tokens)},
                         {mean_cost(arm.training_flops)},
                         {mean_cost(arm.training_seconds)},
                         {mean_cost(arm.tokens_per_second)},
                         {mean_cost(arm.memory_bytes, "B")}});
  return grid;
}

Grid ratio_grid(const analysis::TaskEvidence& task) {
  Grid grid{.title = fmt::format("{}: cost to reach {}, / the baseline's", task.name, task.target),
            .columns = columns_of({})};
  for (const auto resource : config::kResources)
    grid.columns.push_back({config::label_of(resource)});
  for (const auto& arm : task.arms) {
    if (arm.cost_ratios.empty()) continue;
    GridRow row{{arm.name}};
    for (const auto& ratio : arm.cost_ratios) row.push_back({analysis::ratio_figure(ratio)});
    row.resize(grid.columns.size());
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid aggregate_grid(const analysis::Evidence& evidence) {
  Grid grid{.title = fmt::format(
                "over {}: {} on the first test set within the trained length, interquartile "
                "mean with 95 % interval",
                pooled_words(evidence.aggregates.front()), analysis::display_name(evidence.metric)),
            .columns = columns_of({"interquartile mean", "P(improvement)"})};
  for (const auto& one : evidence.aggregates)
    grid.rows.push_back({{one.arm},
                         {.text = analysis::format_metric(one.interquartile_mean, evidence.metric),
                          .below = analysis::format_metric(one.interval, evidence.metric)},
                         {one.improvement                ? fmt::format("{:.2f}", *one.improvement)
                          : one.arm == evidence.baseline ? "baseline"
                                                         : "-"}});
  return grid;
}

Grid seed_grid(const analysis::Evidence& evidence, const analysis::TaskEvidence& task) {
  const auto metric = leading_metric(task);
  Grid grid{.title = "Every seed of " + task.name,
            .columns = {{.heading = "arm", .holds = Holds::arms},
                        {.heading = "test set", .holds = Holds::names}}};
  for (const auto seed : evidence.seeds) grid.columns.push_back({fmt::format("seed {}", seed)});
  for (const auto& arm : task.arms)
    for (const auto& cell : arm.cells) {
      if (cell.metric != metric) continue;
      GridRow row{{arm.name}, {test_set_name(cell)}};
      for (size_t i = 0; i < cell.sample.values.size(); ++i)
        row.push_back({analysis::value_figure(cell.sample, i, metric)});
      row.resize(grid.columns.size());
      grid.rows.push_back(std::move(row));
    }
  return grid;
}

Grid sentence_grid(const analysis::TaskEvidence& task) {
  Grid grid{.title = "Sentence tests of " + task.name,
            .columns = {{.heading = "arm", .holds = Holds::arms},
                        {.heading = "test set", .holds = Holds::names},
                        {.heading = "metric", .holds = Holds::names},
                        {.heading = "seed"},
                        {.heading = "difference", .holds = Holds::differences},
                        {.heading = "p (bootstrap)"},
                        {.heading = "p (randomisation)"}}};
  for (const auto& arm : task.arms)
    for (const auto& cell : arm.cells)
      for (const auto& test : cell.sentence_tests)
        grid.rows.push_back({{arm.name},
                             {test_set_name(cell)},
                             {analysis::display_name(cell.metric)},
                             {std::to_string(test.seed)},
                             {analysis::format_metric(test.difference, cell.metric)},
                             {analysis::p_figure(test.bootstrap_p)},
                             {analysis::p_figure(test.randomisation_p)}});
  return grid;
}

}  // namespace ablate::report
