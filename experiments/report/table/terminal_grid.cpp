#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "experiments/analysis/figure.h"
#include "experiments/config/schema/option.h"
#include "experiments/report/markup.h"
#include "experiments/report/table/grid.h"
#include "experiments/report/table/grid_parts.h"

namespace ablate::report {

size_t width(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

namespace {

/// The first letters of a text, the last an ellipsis if some are left out.
std::string cut(const std::string& text, size_t most) {
  return width(text) <= most ? text : shown(text, most - 1);
}

constexpr size_t kScreen = 100;       // columns of a terminal
constexpr size_t kShortestName = 12;  // letters that a name keeps

size_t width_of_column(const Grid& grid, size_t column) {
  size_t widest = width(grid.headings[column]);
  for (const auto& row : grid.rows)
    widest = std::max(widest, width(row[column].text) + (row[column].best ? 1 : 0));
  return widest;
}

size_t width_of(const Grid& grid) {
  size_t total = 0;
  for (size_t column = 0; column < grid.headings.size(); ++column)
    total += 2 + width_of_column(grid, column);
  return total;
}

/// Names no longer than they must be for the grid to fit the screen, the longest cut first.
void fit_names(Grid& grid) {
  while (width_of(grid) > kScreen) {
    size_t longest = 0;
    for (size_t column = 1; column < grid.names; ++column)
      if (width_of_column(grid, column) > width_of_column(grid, longest)) longest = column;
    const size_t most = width_of_column(grid, longest) - 1;
    if (most < kShortestName) return;
    for (auto& row : grid.rows) row[longest].text = cut(row[longest].text, most);
  }
}

/// "80 % of such studies would show a difference of 0.01 (a), 0.02 (b)", or of many arms the
/// range; empty without a test.
std::string detectable_note(const analysis::TaskEvidence& task) {
  constexpr size_t kMostNames = 3;
  std::vector<std::pair<double, std::string>> found;
  for (const auto& arm : task.arms)
    for (const auto& cell : arm.cells)
      if (is_compared_by(task, cell) && cell.primary && cell.contrast &&
          is_tested(cell.contrast->verdict) && cell.contrast->detectable)
        found.emplace_back(*cell.contrast->detectable, arm.name);
  if (found.empty()) return "";
  const auto figure = [&](const auto& one) {
    return analysis::format_metric(one.first, task.metric);
  };
  std::vector<std::string> figures;
  for (const auto& one : found) figures.push_back(fmt::format("{} ({})", figure(one), one.second));
  const auto [least, most] = std::ranges::minmax_element(found);
  return analysis::detectable_words(
      found.size() > kMostNames ? fmt::format("{} to {}, by arm", figure(*least), figure(*most))
                                : fmt::format("{}", fmt::join(figures, ", ")));
}

/// The verdict on each arm and test set of claims.
Grid verdicts_of(const analysis::TaskEvidence& task) {
  Grid grid{.title = fmt::format("{}: {}, difference from the baseline", task.name,
                                 analysis::display_name(task.metric)),
            .headings = {"arm", "test set", "difference", "95 % interval", "p", "verdict"}};
  if (task.comparisons > 1) grid.headings[4] = "p (corrected)";
  const bool claims = analysis::declares_claims(task);
  if (claims) grid.headings.emplace_back("claim");
  for (const auto& arm : task.arms)
    for (const auto& cell : arm.cells) {
      if (!is_compared_by(task, cell) || !cell.primary || !cell.contrast) continue;
      const auto& contrast = *cell.contrast;
      grid.rows.push_back({{arm.name},
                           {test_set_name(cell)},
                           {analysis::format_metric(contrast.mean, cell.metric)},
                           {analysis::format_metric(contrast.interval, cell.metric)},
                           {analysis::p_figure(contrast.difference.adjusted_p)},
                           {analysis::verdict_figure(contrast)}});
      if (claims) grid.rows.back().push_back({analysis::claim_words(contrast)});
    }
  grid.note = detectable_note(task);
  fit_names(grid);
  return grid;
}

/// The test sets that have the metric; "" is training and validation.
std::vector<std::string> sets_with(const analysis::TaskEvidence& task, const std::string& metric) {
  std::vector<std::string> sets;
  for (const auto& cell : task.arms.front().cells)
    if (cell.metric == metric) sets.push_back(cell.test_set);
  return sets;
}

/// The means of one metric, a row for an arm and a column for each test set that fits.
Grid means_of(const analysis::TaskEvidence& task, const std::string& metric) {
  Grid grid{.title = fmt::format("{}: {}, mean ± standard deviation over seeds", task.name,
                                 analysis::display_name(metric)),
            .headings = {"arm"},
            .names = 1};
  for (const auto& arm : task.arms) grid.rows.push_back({{arm.name}});
  for (const auto& set : sets_with(task, metric)) {
    auto wider = grid;
    const auto* named = analysis::find_cell(task.arms.front(), set, metric);
    wider.headings.push_back(set.empty() ? analysis::display_name(metric) : test_set_name(*named));
    for (size_t i = 0; i < task.arms.size(); ++i) {
      const auto* cell = analysis::find_cell(task.arms[i], set, metric);
      wider.rows[i].push_back(cell == nullptr
                                  ? GridCell{"-"}
                                  : GridCell{with_deviation(cell->sample, metric), cell->best});
    }
    fit_names(wider);
    if (width_of(wider) > kScreen) break;
    grid = std::move(wider);
  }
  return grid;
}

/// The means and the differences at each rung.
Grid short_ladder(const analysis::Ladder& ladder) {
  const bool sizes = ladder.axis == analysis::kSizeAxis;
  Grid grid{.title = ladder_title(ladder),
            .headings = {"arm", sizes ? "size" : config::last_key(ladder.axis),
                         analysis::display_name(ladder.metric), "difference", "95 % interval",
                         "p (corrected)"}};
  for (const auto& arm : ladder.arms)
    for (size_t i = 0; i < ladder.rungs.size(); ++i) {
      GridRow row{{i == 0 ? arm.name : ""},
                  {ladder.rungs[i].label},
                  {analysis::mean_figure(arm.scores[i], ladder.metric)}};
      if (i < arm.effects.size())
        row.insert(row.end(), {{analysis::format_metric(arm.effects[i].mean, ladder.metric)},
                               {analysis::format_metric(arm.effects[i].interval, ladder.metric)},
                               {analysis::p_figure(arm.p[i])}});
      else
        row.insert(row.end(), {{"baseline"}, {""}, {""}});
      grid.rows.push_back(std::move(row));
    }
  fit_names(grid);
  return grid;
}

std::string shown_metric(const analysis::TaskEvidence& task) {
  if (!task.metric.empty()) return task.metric;
  return test_sets_of(task.arms.front()).front()->metric;
}

}  // namespace

std::vector<Grid> short_grids_of(const analysis::Evidence& evidence) {
  std::vector<Grid> grids;
  for (const auto& ladder : evidence.ladders) grids.push_back(short_ladder(ladder));
  for (const auto& task : evidence.tasks) {
    if (task.arms.empty() || test_sets_of(task.arms.front()).empty()) continue;
    if (evidence.baseline)
      if (auto verdicts = verdicts_of(task); !verdicts.rows.empty())
        grids.push_back(std::move(verdicts));
    grids.push_back(means_of(task, shown_metric(task)));
  }
  return grids;
}

}  // namespace ablate::report
