#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/cost.h"
#include "experiments/analysis/figure.h"
#include "experiments/config/schema/option.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

constexpr const char* kInterval = "95 % interval";

GridCell estimate(std::string figure, const std::optional<statistics::Interval>& interval,
                  const std::string& metric) {
  return {.text = std::move(figure), .below = analysis::format_metric(interval, metric)};
}

GridCell difference_cell(double mean, const std::optional<statistics::Interval>& interval,
                         const std::string& metric) {
  return estimate(analysis::value_beside(mean, interval, metric), interval, metric);
}

std::vector<std::string> numbered(const char* what, const std::vector<int64_t>& numbers) {
  std::vector<std::string> names;
  for (const auto number : numbers) names.push_back(fmt::format("{} {}", what, number));
  return names;
}

Strip value_strip(const analysis::Cell& cell, const std::vector<int64_t>& seeds) {
  return {.values = cell.sample.values,
          .names = numbered("seed", seeds),
          .mean = cell.sample.mean,
          .interval = cell.sample.interval,
          .metric = cell.metric};
}

Strip difference_strip(const analysis::Cell& cell) {
  const auto& contrast = *cell.contrast;
  std::vector<int64_t> pairs(contrast.differences.size());
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = static_cast<int64_t>(i + 1);
  return {.values = contrast.differences,
          .names = numbered("pair", pairs),
          .mean = contrast.mean,
          .interval = contrast.interval,
          .metric = cell.metric,
          .zero = true};
}

std::vector<GridColumn> contrast_columns(const analysis::TaskEvidence& task) {
  const auto detail = [](const char* heading, const char* qualifier = "", const char* below = "") {
    return GridColumn{.heading = heading,
                      .qualifier = qualifier,
                      .below = below,
                      .brief = Brief::nothing,
                      .narrow = false};
  };
  const auto strips = [](const char* heading) {
    return GridColumn{.heading = heading, .holds = Holds::strips, .narrow = false};
  };
  return {{.heading = "arm", .holds = Holds::arms},
          {.heading = "test set", .holds = Holds::names},
          detail("n"),
          {.heading = analysis::display_name(leading_metric(task)),
           .below = kInterval,
           .brief = Brief::nothing},
          strips("every seed"),
          detail("solved"),
          {.heading = "difference", .below = kInterval, .holds = Holds::differences},
          strips("every pair"),
          detail("p"),
          {.heading = "p", .qualifier = task.comparisons > 1 ? "corrected" : "", .narrow = false},
          detail("p", "below margin"),
          detail("p", task.with_margins > 1 ? "below margin, corrected" : "below margin"),
          detail("could see", "", "in 80 % of studies"),
          {.heading = "verdict", .below = "claim", .holds = Holds::words}};
}

/// The p of a test, and first the uncorrected one if there are several comparisons.
void add_p(GridRow& row, const analysis::Test& test, int64_t comparisons) {
  row.push_back({comparisons > 1 ? analysis::p_figure(test.p) : ""});
  row.push_back({analysis::p_figure(test.adjusted_p)});
}

GridRow contrast_row(const analysis::Evidence& evidence, const analysis::TaskEvidence& task,
                     const analysis::ArmEvidence& arm, const analysis::Cell& cell) {
  GridRow row{
      {arm.name},
      {test_set_name(cell)},
      {std::to_string(cell.sample.count)},
      estimate(analysis::mean_figure(cell.sample, cell.metric), cell.sample.interval, cell.metric),
      {.text = "", .strip = value_strip(cell, evidence.seeds)},
      {cell.success ? fmt::format("{}/{}", cell.success->solved, cell.success->runs) : ""}};
  row[3].best = cell.best;
  if (!cell.contrast) {
    row.push_back({.text = arm.baseline        ? "baseline"
                           : evidence.baseline ? "-"
                                               : "",
                   .spans = true});
    return row;
  }
  const auto& contrast = *cell.contrast;
  row.push_back(difference_cell(contrast.mean, contrast.interval, cell.metric));
  row.push_back({.text = "", .strip = difference_strip(cell)});
  add_p(row, contrast.difference, task.comparisons);
  if (analysis::tests_margins(task))
    add_p(row, contrast.within, task.with_margins);
  else
    row.resize(row.size() + 2);
  row.push_back({analysis::detectable_figure(contrast, cell.metric)});
  row.push_back({.text = analysis::verdict_figure(contrast),
                 .below = analysis::claim_words(contrast),
                 .verdict = contrast.verdict});
  return row;
}

}  // namespace

Grid contrast_grid(const analysis::Evidence& evidence, const analysis::TaskEvidence& task) {
  const auto metric = leading_metric(task);
  Grid grid{
      .title = fmt::format("{}: {}, mean and difference from the baseline with 95 % intervals",
                           task.name, analysis::display_name(metric)),
      .columns = contrast_columns(task),
      .note = task.family};
  for (const auto& arm : task.arms)
    for (const auto& cell : arm.cells)
      if (cell.metric == metric) {
        grid.rows.push_back(contrast_row(evidence, task, arm, cell));
        grid.rows.back().resize(grid.columns.size());
      }
  if (std::ranges::all_of(grid.rows, [](const GridRow& row) { return row.back().below.empty(); }))
    grid.columns.back().below.clear();
  return grid;
}

std::string ladder_title(const analysis::Ladder& ladder) {
  return fmt::format("Over {}: {}{}, {}{}",
                     ladder.axis == analysis::kSizeAxis ? "sizes" : ladder.axis, ladder.task,
                     ladder.at.empty() ? "" : fmt::format(" ({})", ladder.at),
                     analysis::display_name(ladder.metric),
                     ladder.test_set.empty() ? "" : " on " + ladder.test_set);
}

Grid ladder_grid(const analysis::Ladder& ladder) {
  const bool sizes = ladder.axis == analysis::kSizeAxis;
  const auto detail = [](const char* heading, const char* qualifier = "") {
    return GridColumn{.heading = heading, .qualifier = qualifier, .brief = Brief::nothing};
  };
  Grid grid{.title = ladder_title(ladder),
            .columns = {
                {.heading = "arm", .holds = Holds::arms},
                {.heading = sizes ? "size" : config::last_key(ladder.axis), .holds = Holds::names},
                detail("parameters", "of the baseline"),
                detail("n"),
                {.heading = analysis::display_name(ladder.metric),
                 .below = kInterval,
                 .brief = Brief::first_lines},
                {.heading = "difference", .below = kInterval, .holds = Holds::differences},
                {.heading = "p", .qualifier = "corrected"},
                detail("best seeds"),
                {.heading = "compute", .qualifier = "for the same value"},
                {.heading = "time"}}};
  for (const auto& arm : ladder.arms) {
    for (size_t i = 0; i < ladder.rungs.size(); ++i) {
      const auto& [setting, label, x] = ladder.rungs[i];
      const auto& score = arm.scores[i];
      const bool compared = i < arm.effects.size();
      grid.rows.push_back(
          {{arm.name},
           {label},
           {sizes ? analysis::count_figure(x) : ""},
           {std::to_string(score.count)},
           estimate(analysis::mean_figure(score, ladder.metric), score.interval, ladder.metric),
           compared ? difference_cell(arm.effects[i].mean, arm.effects[i].interval, ladder.metric)
                    : GridCell{.text = "baseline", .spans = true},
           {compared ? analysis::p_figure(arm.p[i]) : ""},
           {i < arm.best_at.size() ? std::to_string(arm.best_at[i]) : ""},
           {i < arm.compute.size() ? analysis::ratio_figure(arm.compute[i]) : ""},
           {i < arm.time.size() ? analysis::ratio_figure(arm.time[i]) : ""}});
    }
    if (!arm.sentence.empty()) grid.note += arm.sentence + " ";
  }
  if (!grid.note.empty()) grid.note += kLadderCorrection;
  return without_empty_columns(grid);
}

}  // namespace ablate::report
