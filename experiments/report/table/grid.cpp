#include "experiments/report/table/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "experiments/analysis/cost.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/tuned_values.h"
#include "experiments/config/schema/option.h"
#include "experiments/records/folders.h"
#include "experiments/report/markup.h"
#include "experiments/report/table/grid_parts.h"

namespace ablate::report {
namespace {

using Columns = std::vector<std::string>;

/// The metrics that tables show and some test set has.
Columns metrics_of_task(const analysis::TaskEvidence& task) {
  Columns metrics;
  for (const auto& cell : task.arms.front().cells)
    if (!cell.test_set.empty() && cell.in_tables &&
        std::ranges::find(metrics, cell.metric) == metrics.end() && cell.sample.count > 0)
      metrics.push_back(cell.metric);
  return metrics;
}

/// The cells of training and validation that tables show.
std::vector<const analysis::Cell*> run_cells_of(const analysis::ArmEvidence& arm) {
  std::vector<const analysis::Cell*> cells;
  for (const auto& cell : arm.cells)
    if (cell.test_set.empty() && cell.in_tables) cells.push_back(&cell);
  return cells;
}

void add_run_figures(GridRow& row, const analysis::ArmEvidence& arm) {
  for (const auto* cell : run_cells_of(arm))
    row.push_back({with_deviation(cell->sample, cell->metric)});
}

Grid scores_of(const analysis::TaskEvidence& task) {
  Grid grid{.title = task.name, .headings = {"arm", "test set"}};
  for (const auto* cell : run_cells_of(task.arms.front()))
    grid.headings.push_back(config::find_metric(cell->metric)->heading);
  const auto of_run = grid.headings.size();
  const auto metrics = metrics_of_task(task);
  for (const auto& metric : metrics) grid.headings.push_back(analysis::display_name(metric));
  for (const auto& arm : task.arms)
    for (const auto* set : test_sets_of(arm)) {
      const bool first = set == test_sets_of(arm).front();
      GridRow row{{first ? arm.name : ""}, {test_set_name(*set)}};
      if (first)
        add_run_figures(row, arm);
      else
        row.resize(of_run);
      for (const auto& metric : metrics) {
        const auto* cell = analysis::find_cell(arm, set->test_set, metric);
        row.push_back(cell == nullptr ? GridCell{"-"}
                                      : GridCell{with_deviation(cell->sample, metric), cell->best});
      }
      grid.rows.push_back(std::move(row));
    }
  return grid;
}

void add_contrast(GridRow& row, const analysis::Cell& cell, bool margin) {
  const auto& contrast = *cell.contrast;
  row.push_back({with_interval(analysis::format_metric(contrast.mean, cell.metric),
                               contrast.interval, cell.metric)});
  const auto add = [&](const analysis::Test& test) {
    row.push_back({analysis::p_figure(test.p)});
    row.push_back({analysis::p_figure(test.adjusted_p)});
  };
  add(contrast.difference);
  if (margin) add(contrast.within);
  row.push_back({analysis::detectable_figure(contrast, cell.metric)});
  row.push_back({analysis::verdict_figure(contrast)});
  if (contrast.outcome) row.back().text += "; the claim: " + analysis::claim_words(contrast);
}

std::vector<std::string> difference_headings(const analysis::TaskEvidence& task) {
  std::vector<std::string> headings{"arm", "test set", "n", analysis::display_name(task.metric)};
  const auto& cells = task.arms.front().cells;
  if (std::ranges::any_of(cells, [&](const analysis::Cell& cell) {
        return is_compared_by(task, cell) && cell.success;
      }))
    headings.emplace_back("solved");
  headings.insert(headings.end(), {"difference", "p", "corrected"});
  if (analysis::tests_margins(task))
    headings.insert(headings.end(), {"p (below margin)", "corrected"});
  headings.insert(headings.end(), {"could see", "verdict"});
  return headings;
}

Grid differences_of(const analysis::TaskEvidence& task) {
  Grid grid{
      .title = fmt::format("{}: {}, mean and difference from the baseline with 95 % intervals",
                           task.name, analysis::display_name(task.metric)),
      .headings = difference_headings(task),
      .rows = {},
      .note = task.family};
  for (const auto& arm : task.arms) {
    bool first = true;
    for (const auto& cell : arm.cells) {
      if (!is_compared_by(task, cell)) continue;
      GridRow row{{first ? arm.name : ""},
                  {test_set_name(cell)},
                  {std::to_string(cell.sample.count)},
                  {with_interval(analysis::mean_figure(cell.sample, cell.metric),
                                 cell.sample.interval, cell.metric),
                   cell.best}};
      if (cell.success)
        row.push_back({fmt::format("{}/{}", cell.success->solved, cell.success->runs)});
      if (cell.contrast)
        add_contrast(row, cell, analysis::tests_margins(task));
      else
        row.push_back({arm.baseline ? "baseline" : "-"});
      row.resize(grid.headings.size());
      grid.rows.push_back(std::move(row));
      first = false;
    }
  }
  return grid;
}

std::string mean_text(const analysis::Sample& sample) {
  return sample.count == 0 ? "-" : large(sample.mean);
}

Grid costs_of(const analysis::TaskEvidence& task) {
  Grid grid{.title = task.name + ": costs of training",
            .headings = {"arm", "parameters", "MFLOPs/predicted token", "steps", "target tokens",
                         "FLOPs", "seconds", "tokens/s", "memory"},
            .names = 1};
  for (const auto& arm : task.arms)
    grid.rows.push_back({{arm.name},
                         {analysis::parameters_figure(arm)},
                         {analysis::megaflops_figure(arm)},
                         {mean_text(arm.steps)},
                         {mean_text(arm.tokens)},
                         {mean_text(arm.training_flops)},
                         {mean_text(arm.training_seconds)},
                         {mean_text(arm.tokens_per_second)},
                         {mean_text(arm.memory_bytes) + (arm.memory_bytes.count > 0 ? "B" : "")}});
  return grid;
}

/// What each arm needs to reach the target; without rows if the study has none.
Grid ratios_of(const analysis::TaskEvidence& task) {
  Grid grid{.title = fmt::format("{}: cost to reach {}, / the baseline's", task.name, task.target),
            .headings = {"arm"},
            .names = 1};
  for (const auto resource : config::kResources)
    grid.headings.push_back(config::label_of(resource));
  for (const auto& arm : task.arms) {
    if (arm.cost_ratios.empty()) continue;
    GridRow row{{arm.name}};
    for (const auto& ratio : arm.cost_ratios) row.push_back({analysis::ratio_figure(ratio)});
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid aggregates_grid(const analysis::Evidence& evidence) {
  Grid grid{.title = fmt::format(
                "over {}: {} within the trained length, interquartile mean with 95 % "
                "interval",
                pooled_words(evidence.aggregates.front()), analysis::display_name(evidence.metric)),
            .headings = {"arm", "interquartile mean", "P(improvement)"},
            .names = 1};
  for (const auto& aggregate : evidence.aggregates)
    grid.rows.push_back(
        {{aggregate.arm},
         {with_interval(analysis::format_metric(aggregate.interquartile_mean, evidence.metric),
                        aggregate.interval, evidence.metric)},
         {aggregate.improvement ? fmt::format("{:.2f}", *aggregate.improvement) : "baseline"}});
  return grid;
}

/// "missing: a, b, c and 41 more: not started": a line for each reason.
std::vector<std::string> missing_lines(const std::vector<records::MissingRun>& missing) {
  constexpr size_t kMostNames = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto& run : missing) {
    auto found = std::ranges::find(reasons, run.reason, [](const auto& one) { return one.first; });
    if (found == reasons.end()) found = reasons.insert(found, {run.reason, {}});
    found->second.push_back(records::label(run.task, run.arm, run.seed));
  }
  std::vector<std::string> lines;
  for (const auto& [reason, labels] : reasons) {
    const auto named = std::span(labels).first(std::min(kMostNames, labels.size()));
    const auto more = labels.size() - named.size();
    lines.push_back(fmt::format("missing: {}{}: {}", fmt::join(named, ", "),
                                more > 0 ? fmt::format(" and {} more", more) : "", reason));
  }
  return lines;
}

Grid tuning_grid(const analysis::TuningEvidence& tuning) {
  Grid grid{.title = fmt::format("chosen values of {} by {} on {}", analysis::paths_of(tuning),
                                 analysis::display_name(tuning.metric), analysis::seeds_of(tuning)),
            .headings = {"task", "arm"}};
  for (const auto& key : tuning.keys) grid.headings.push_back(key.name);
  grid.headings.insert(grid.headings.end(),
                       {analysis::display_name(tuning.metric), "sensitivity", ""});
  for (const auto& arm : tuning.arms) {
    const auto& search = arm.search;
    GridRow row{{search.task}, {search.arm}};
    for (size_t key = 0; key < tuning.keys.size(); ++key)
      row.push_back({search.chosen ? search.tried[*search.chosen].values[key] : "-"});
    row.push_back({search.chosen
                       ? analysis::format_metric(config::mean_score(search.tried[*search.chosen]),
                                                 tuning.metric)
                       : "-"});
    row.push_back({analysis::sensitivity_figure(arm)});
    row.push_back({analysis::remark_on(arm, tuning)});
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

}  // namespace

std::vector<Grid> grids_of(const analysis::Evidence& evidence) {
  std::vector<Grid> grids;
  for (const auto& ladder : evidence.ladders) grids.push_back(ladder_grid(ladder));
  for (const auto& task : evidence.tasks) {
    if (task.arms.empty() || test_sets_of(task.arms.front()).empty()) continue;
    grids.push_back(scores_of(task));
    if (evidence.baseline) grids.push_back(differences_of(task));
    grids.push_back(costs_of(task));
    if (auto ratios = ratios_of(task); !ratios.rows.empty()) grids.push_back(std::move(ratios));
  }
  if (!evidence.aggregates.empty()) grids.push_back(aggregates_grid(evidence));
  if (evidence.tuning && !evidence.tuning->arms.empty())
    grids.push_back(tuning_grid(*evidence.tuning));
  return grids;
}

std::vector<std::string> remarks_of(const analysis::Evidence& evidence) {
  std::vector<std::string> remarks;
  for (const auto& one : evidence.expectations)
    remarks.push_back(fmt::format("expected: {}: {} ({})", one.text,
                                  one.holds ? "holds" : "does NOT hold", one.numbers));
  for (auto& line : missing_lines(evidence.missing)) remarks.push_back(std::move(line));
  remarks.insert(remarks.end(), evidence.notes.begin(), evidence.notes.end());
  return remarks;
}

}  // namespace ablate::report
