#include "experiments/report/table/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/analysis/cost.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/tuned_values.h"
#include "experiments/config/schema/option.h"
#include "experiments/report/markup.h"

namespace ablate::report {

Grid without_empty_columns(const Grid& grid) {
  Grid result{.title = grid.title,
              .columns = {},
              .rows = std::vector<GridRow>(grid.rows.size()),
              .note = grid.note};
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
  if (cell->sample.count > 1 && !analysis::is_censored(cell->sample))
    figure += " ± " + analysis::format_metric(cell->sample.deviation, metric);
  return {.text = std::move(figure), .best = cell->best};
}

std::string pooled_words(const analysis::Aggregate& aggregate) {
  return fmt::format("{} tasks{}", aggregate.tasks,
                     aggregate.settings == aggregate.tasks
                         ? ""
                         : fmt::format(" in {} settings", aggregate.settings));
}

namespace {

/// Metrics of test sets, or else of training and validation.
std::vector<const analysis::Cell*> first_cells(const analysis::TaskEvidence& task, bool of_run,
                                               bool all_metrics) {
  std::vector<const analysis::Cell*> cells;
  for (const auto& cell : task.arms.front().cells)
    if (cell.test_set.empty() == of_run && (all_metrics || cell.in_tables) &&
        (of_run || all_metrics || cell.sample.count > 0) &&
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

}  // namespace

Grid score_grid(const analysis::TaskEvidence& task, bool all_metrics) {
  Grid grid{.title = task.name,
            .columns = {{.heading = "arm", .holds = Holds::arms},
                        {.heading = "test set", .holds = Holds::names}},
            .rows = {}};
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

namespace {

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

Grid cost_grid(const analysis::TaskEvidence& task) {
  Grid grid{.title = task.name + ": costs of training",
            .columns = columns_of({"parameters", "FLOPs/predicted token", "steps", "target tokens",
                                   "FLOPs", "seconds", "tokens/s", "memory"}),
            .rows = {}};
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
            .columns = columns_of({}),
            .rows = {}};
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
                "over {}: {} within the trained length, interquartile mean with 95 % "
                "interval",
                pooled_words(evidence.aggregates.front()), analysis::display_name(evidence.metric)),
            .columns = columns_of({"interquartile mean", "P(improvement)"}),
            .rows = {}};
  for (const auto& one : evidence.aggregates)
    grid.rows.push_back({{one.arm},
                         {.text = analysis::format_metric(one.interquartile_mean, evidence.metric),
                          .below = analysis::format_metric(one.interval, evidence.metric)},
                         {one.improvement ? fmt::format("{:.2f}", *one.improvement) : "baseline"}});
  return grid;
}

namespace {

/// The columns of a task, if there are several, of an arm, of its values and of their score.
std::vector<GridColumn> value_columns(const analysis::Evidence& evidence) {
  std::vector<GridColumn> columns;
  if (evidence.tasks.size() > 1) columns.push_back({.heading = "task", .holds = Holds::names});
  columns.push_back({.heading = "arm", .holds = Holds::arms});
  for (const auto& key : evidence.tuning->keys) columns.push_back({key.name});
  columns.push_back({analysis::display_name(evidence.tuning->metric)});
  return columns;
}

std::string tried_score(double score, const std::string& metric) {
  return std::isnan(score) ? "diverged" : analysis::format_metric(score, metric);
}

/// A row of value_columns(), with `value` of every key.
template <class Value>
GridRow value_row(const analysis::Evidence& evidence, const config::ArmSearch& search,
                  const Value& value, const std::string& score) {
  GridRow row;
  if (evidence.tasks.size() > 1) row.push_back({search.task});
  row.push_back({search.arm});
  for (size_t key = 0; key < evidence.tuning->keys.size(); ++key) row.push_back({value(key)});
  row.push_back({score});
  return row;
}

}  // namespace

Grid tuning_grid(const analysis::Evidence& evidence) {
  const auto& tuning = *evidence.tuning;
  Grid grid{.title = fmt::format("chosen values of {} by {} on {}", analysis::paths_of(tuning),
                                 analysis::display_name(tuning.metric), analysis::seeds_of(tuning)),
            .columns = value_columns(evidence),
            .rows = {}};
  grid.columns.push_back({"sensitivity"});
  grid.columns.push_back({.heading = "", .holds = Holds::words});
  for (const auto& arm : tuning.arms) {
    const auto& search = arm.search;
    auto row = value_row(
        evidence, search, [&](size_t key) { return analysis::chosen_values(search, key); },
        analysis::has_chosen(search) ? tried_score(config::chosen_score(search), tuning.metric)
                                     : "-");
    row.push_back({analysis::sensitivity_figure(arm)});
    row.push_back({analysis::remark_on(arm, tuning)});
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

namespace {

/// The mean difference of the scores from those of the baseline with equal values, over the seeds
/// that both have; empty of the baseline and without one.
std::string beside_baseline(const analysis::Evidence& evidence, const config::ArmSearch& search,
                            const config::TriedCombination& tried) {
  const auto& arms = evidence.tuning->arms;
  const auto baseline = std::ranges::find_if(arms, [&](const analysis::TunedArm& arm) {
    return arm.search.task == search.task && arm.search.arm == evidence.baseline;
  });
  if (baseline == arms.end() || search.arm == evidence.baseline) return "";
  const auto& all = baseline->search.tried;
  const auto equal = std::ranges::find(all, tried.values, &config::TriedCombination::values);
  if (equal == all.end()) return "-";
  std::vector<double> differences;
  for (size_t seed = 0; seed < tried.scores.size(); ++seed)
    if (tried.scores[seed] && equal->scores[seed])
      differences.push_back(*tried.scores[seed] - *equal->scores[seed]);
  const double mean = statistics::mean(differences);
  return std::isnan(mean) ? "-" : fmt::format("{:+.3f}", mean);
}

}  // namespace

Grid tried_grid(const analysis::Evidence& evidence) {
  const auto& tuning = *evidence.tuning;
  Grid grid{.title = "Tried values", .columns = value_columns(evidence), .rows = {}};
  if (evidence.baseline) grid.columns.push_back({"beside " + *evidence.baseline});
  for (const auto seed : tuning.seeds) grid.columns.push_back({fmt::format("seed {}", seed)});
  grid.columns.push_back({.heading = "", .holds = Holds::words});
  for (const auto& [search, sensitivity] : tuning.arms)
    for (size_t i = 0; i < search.tried.size(); ++i) {
      const auto& tried = search.tried[i];
      const auto chosen =
          std::ranges::count(search.chosen, std::optional(i), &config::ChosenCombination::tried);
      auto row = value_row(
          evidence, search, [&](size_t key) { return tried.values[key]; },
          tried_score(config::mean_score(tried), tuning.metric));
      row.back().best = chosen == std::ssize(search.chosen);
      if (evidence.baseline) row.push_back({beside_baseline(evidence, search, tried)});
      for (size_t seed = 0; seed < tried.scores.size(); ++seed) {
        const auto& score = tried.scores[seed];
        row.push_back({score ? tried_score(*score, tuning.metric) : "-"});
        row.back().best = search.chosen.size() > 1 && search.chosen[seed].tried == i;
      }
      row.resize(grid.columns.size() - 1);
      row.push_back({chosen == 0                 ? (tried.declared ? "" : "added")
                     : search.chosen.size() == 1 ? "chosen"
                                                 : fmt::format("chosen by {}", chosen)});
      grid.rows.push_back(std::move(row));
    }
  return grid;
}

Grid seed_grid(const analysis::Evidence& evidence, const analysis::TaskEvidence& task) {
  const auto metric = leading_metric(task);
  Grid grid{.title = "Every seed of " + task.name,
            .columns = {{.heading = "arm", .holds = Holds::arms},
                        {.heading = "test set", .holds = Holds::names}},
            .rows = {}};
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
                        {.heading = "p (randomisation)"}},
            .rows = {}};
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
