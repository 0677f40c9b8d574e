#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/records/folders.h"
#include "experiments/report/markup.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {

namespace {

/// Without strips, with an arm's name once and with second lines behind the first ones, or in
/// columns of their own if they are words. In brief, what a terminal shows: all second lines have
/// columns, and there is no note.
Grid in_text(const Grid& grid, bool brief) {
  Grid flat{.title = grid.title, .rows = std::vector<GridRow>(grid.rows.size())};
  if (!brief) flat.note = grid.note;
  for (size_t place = 0; place < grid.columns.size(); ++place) {
    const auto& column = grid.columns[place];
    if (column.holds == Holds::strips || (brief && column.brief == Brief::nothing)) continue;
    const bool apart = !column.below.empty() &&
                       (brief ? column.brief == Brief::all : column.holds == Holds::words);
    flat.columns.push_back(column);
    if (!column.qualifier.empty()) flat.columns.back().heading += " (" + column.qualifier + ")";
    if (apart) flat.columns.push_back({column.below});
    for (size_t i = 0; i < grid.rows.size(); ++i) {
      auto cell = grid.rows[i][place];
      const bool again = place == 0 && i > 0 && column.holds == Holds::arms &&
                         grid.rows[i - 1][place].text == cell.text;
      if (again) cell.text.clear();
      const auto below = std::exchange(cell.below, "");
      if (!brief && !apart && !below.empty()) cell.text += " " + below;
      flat.rows[i].push_back(std::move(cell));
      if (apart) flat.rows[i].push_back({below});
    }
  }
  return flat;
}

std::string last_letters(const std::string& text, size_t count) {
  size_t at = text.size();
  while (count > 0 && at > 0)
    if ((static_cast<unsigned char>(text[--at]) & 0xc0U) != 0x80U) --count;
  return text.substr(at);
}

/// The text, shortened to `most` letters by an ellipsis behind its `first` ones.
std::string cut(const std::string& text, size_t most, size_t first) {
  if (width(text) <= most) return text;
  return shown(text, first + 1) + last_letters(text, most - first - 1);
}

/// The names, cut in their middle, at their end or at their beginning: at the place that keeps most
/// of them different. Arms often differ at their ends alone, and test sets before "(beyond)".
std::vector<std::string> cut_names(const std::vector<std::string>& names, size_t most) {
  std::vector<std::string> best;
  size_t different = 0;
  for (const size_t first : {most / 2, most - 1, size_t{0}}) {
    std::vector<std::string> all;
    for (const auto& name : names) all.push_back(cut(name, most, first));
    const auto count = std::set(all.begin(), all.end()).size();
    if (count > different) best = std::move(all);
    different = std::max(different, count);
  }
  return best;
}

constexpr size_t kShortestName = 12;  // letters that a name keeps

size_t width_of_column(const Grid& grid, size_t column) {
  size_t widest = width(grid.columns[column].heading);
  for (const auto& row : grid.rows)
    widest = std::max(widest, width(row[column].text) + (row[column].best ? 1 : 0));
  return widest;
}

size_t width_of(const Grid& grid) {
  size_t total = 0;
  for (size_t column = 0; column < grid.columns.size(); ++column)
    total += 2 + width_of_column(grid, column);
  return total;
}

size_t width_of_names(const Grid& grid, size_t column) {
  size_t widest = 0;
  for (const auto& row : grid.rows) widest = std::max(widest, width(row[column].text));
  return widest;
}

/// Names no longer than they must be for the grid to fit the screen, the longest cut first, as far
/// as that makes their column narrower.
void fit_names(Grid& grid) {
  const auto whole = grid.rows;
  while (width_of(grid) > kScreen) {
    std::optional<size_t> longest;
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      const size_t most = width_of_names(grid, column);
      const auto& holds = grid.columns[column].holds;
      if ((column == 0 || holds == Holds::names) && most > kShortestName &&
          most > width(grid.columns[column].heading) &&
          (!longest || most > width_of_names(grid, *longest)))
        longest = column;
    }
    if (!longest) return;
    std::vector<std::string> names;
    for (const auto& row : whole) names.push_back(row[*longest].text);
    const auto shorter = cut_names(names, width_of_names(grid, *longest) - 1);
    for (size_t i = 0; i < shorter.size(); ++i) grid.rows[i][*longest].text = shorter[i];
  }
}

/// "about 80 % of such studies would show a difference of 0.01 (a), 0.02 (b)", or of many arms the
/// range; empty without a test.
std::string detectable_note(const analysis::TaskEvidence& task) {
  constexpr size_t kMostNames = 3;
  std::vector<std::pair<double, std::string>> found;
  for (const auto& one : analysis::compared_in({&task, 1}))
    if (one.cell.metric == task.metric && one.cell.primary && is_tested(one.contrast().verdict) &&
        one.contrast().detectable)
      found.emplace_back(*one.contrast().detectable, one.arm.name);
  if (found.empty()) return "";
  const auto figure = [&](const auto& one) {
    return analysis::positive_figure(one.first, task.metric);
  };
  std::vector<std::string> figures;
  for (const auto& one : found) figures.push_back(fmt::format("{} ({})", figure(one), one.second));
  const auto [least, most] = std::ranges::minmax_element(found);
  return analysis::detectable_words(
      found.size() > kMostNames ? fmt::format("{} to {}, by arm", figure(*least), figure(*most))
                                : fmt::format("{}", fmt::join(figures, ", ")));
}

/// The verdicts on comparisons that claim something.
Grid short_contrasts(const analysis::Evidence& evidence, const analysis::TaskEvidence& task) {
  auto grid = contrast_grid(evidence, task);
  std::erase_if(grid.rows, [](const GridRow& row) {
    return std::ranges::none_of(row, [](const GridCell& cell) {
      return cell.verdict && *cell.verdict != analysis::Verdict::exploratory;
    });
  });
  grid = in_text(without_empty_columns(grid), true);
  grid.title = fmt::format("{}: {}, difference from the baseline", task.name,
                           analysis::display_name(task.metric));
  grid.note = detectable_note(task);
  fit_names(grid);
  return grid;
}

/// The means of the leading metric, a row for an arm and a column for each test set that fits.
Grid means_of(const analysis::TaskEvidence& task) {
  const auto metric = leading_metric(task);
  Grid grid{.title = fmt::format("{}: {}, mean ± standard deviation over seeds", task.name,
                                 analysis::display_name(metric)),
            .columns = {{.heading = "arm", .holds = Holds::arms}}};
  for (const auto& arm : task.arms) grid.rows.push_back({{arm.name}});
  for (const auto& named : task.arms.front().cells) {
    if (named.metric != metric) continue;
    auto wider = grid;
    wider.columns.push_back(
        {named.test_set.empty() ? analysis::display_name(metric) : test_set_name(named)});
    for (size_t i = 0; i < task.arms.size(); ++i)
      wider.rows[i].push_back(score_cell(task.arms[i], named.test_set, metric));
    fit_names(wider);
    if (width_of(wider) > kScreen) break;
    grid = std::move(wider);
  }
  return grid;
}

bool has_test_sets(const analysis::TaskEvidence& task) {
  return !task.arms.empty() && std::ranges::any_of(task.arms.front().cells, [](const auto& cell) {
    return !cell.test_set.empty();
  });
}

/// "missing: a, b, c and 41 more: not started": a line for each reason.
std::vector<std::string> missing_lines(const std::vector<records::MissingRun>& missing) {
  constexpr size_t kMostNames = 3;
  std::vector<std::string> lines;
  for (const auto& [reason, runs] : analysis::grouped(missing, &records::MissingRun::reason)) {
    std::vector<std::string> labels;
    for (size_t i = 0; i < std::min(runs.size(), kMostNames); ++i)
      labels.push_back(records::label(runs[i].task, runs[i].arm, runs[i].seed));
    const auto more = runs.size() - labels.size();
    lines.push_back(fmt::format("missing: {}{}: {}", fmt::join(labels, ", "),
                                more > 0 ? fmt::format(" and {} more", more) : "", reason));
  }
  return lines;
}

}  // namespace

std::vector<Grid> grids_of(const analysis::Evidence& evidence) {
  std::vector<Grid> grids;
  const auto add = [&](const Grid& grid) {
    if (!grid.rows.empty()) grids.push_back(in_text(grid, false));
  };
  for (const auto& ladder : evidence.ladders) add(ladder_grid(ladder));
  for (const auto& task : evidence.tasks) {
    if (!has_test_sets(task)) continue;
    add(score_grid(task, false));
    if (evidence.baseline) add(without_empty_columns(contrast_grid(evidence, task)));
    add(component_grid(task));
    add(cost_grid(task));
    add(ratio_grid(task));
  }
  if (!evidence.aggregates.empty()) add(aggregate_grid(evidence));
  if (evidence.tuning) add(tuning_grid(evidence));
  return grids;
}

std::vector<Grid> short_grids_of(const analysis::Evidence& evidence) {
  std::vector<Grid> grids;
  const auto add = [&](const Grid& grid) {
    grids.push_back(in_text(grid, true));
    fit_names(grids.back());
  };
  for (const auto& ladder : evidence.ladders) add(ladder_grid(ladder));
  for (const auto& task : evidence.tasks) {
    if (!has_test_sets(task)) continue;
    if (evidence.baseline)
      if (auto contrasts = short_contrasts(evidence, task); !contrasts.rows.empty())
        grids.push_back(std::move(contrasts));
    if (!task.components.empty()) add(component_grid(task));
    grids.push_back(means_of(task));
  }
  if (evidence.tuning) add(without_empty_columns(tuning_grid(evidence)));
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
