#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

/// The rows of each test set.
std::vector<Grid> groups_of(const Grid& grid) {
  std::vector<Grid> groups;
  for (const auto& [test_set, rows] :
       analysis::grouped(grid.rows, [](const GridRow& row) { return row[1].text; }))
    groups.push_back({.title = test_set, .columns = grid.columns, .rows = rows});
  return groups;
}

std::string place_of(const TaskView& view, const Grid& group) {
  return analysis::display_name(leading_metric(view.task)) +
         (group.title.empty() ? "" : " on " + group.title);
}

Markup in_words(const TaskView& view, const Grid& group) {
  Markup items;
  for (const auto& one : analysis::compared_in({&view.task, 1}))
    if (const auto& sentence = one.contrast().sentence;
        one.cell.metric == leading_metric(view.task) && test_set_name(one.cell) == group.title &&
        !sentence.empty())
      items += element("li", {}, element("strong", {}, text(one.arm.name + ": ")) + text(sentence));
  return items.empty() ? items : element("ul", {}, items);
}

/// The changes of the arm, without keys that another kind replaces.
Markup changes_of(const analysis::ArmEvidence& arm) {
  if (arm.baseline) return {};
  const bool any_value = std::ranges::any_of(
      arm.changes, [](const analysis::ChangedKey& change) { return !change.value.empty(); });
  Markup list;
  for (const auto& [path, baseline, value] : arm.changes)
    if (!any_value || !value.empty())
      list += element("code", {{"title", "instead of " + or_absent(baseline)}},
                      breakable(path) + text(": " + or_absent(value)));
  return element("span", {{"class", "changes"}}, list);
}

constexpr const char* kInWords = "Verdicts in words";

constexpr size_t kNames = 2;  // columns of the arm and the test set

/// The column headings below `caption`; `alone` if only one group of rows is below them.
Markup head_of(const TaskView& view, const Grid& group, const std::string& caption, bool alone) {
  const auto baseline = baseline_name(view.task);
  const auto words = caption + (baseline.empty() ? "" : ", difference from " + baseline);
  const auto columns = std::to_string(group.columns.size() - kNames);
  const auto arm = text("arm") +
                   (alone ? element("span", {{"class", "below"}}, text("changed keys")) : Markup());
  return row(element("td", {{"class", "wide"}}) +
             element("th", {{"scope", "colgroup"}, {"colspan", columns}, {"class", "group"}},
                     text(words))) +
         row(element("th", {{"scope", "col"}}, arm) +
             column_heads(group, alone ? axes_of(group) : std::vector<Markup>()));
}

Markup rows_of(const TaskView& view, const Grid& group, bool alone) {
  const auto cells = row_cells(group, view.looks);
  Markup rows;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto& arm = *analysis::find_named(view.task.arms, group.rows[i].front().text);
    rows += element(
        "tr", {{"class", arm.baseline ? "baseline" : "other"}},
        row_heading(view.looks.named(arm.name) + (alone ? changes_of(arm) : Markup())) + cells[i]);
  }
  return element("tbody", {}, rows);
}

/// A line above a group's rows with its test set and its axes.
Markup group_line(const Grid& group) {
  const auto axes = axes_of(group);
  auto cells = element("th", {{"scope", "rowgroup"}, {"colspan", "2"}, {"class", "group"}},
                       text(group.title));
  for (size_t column = kNames + 1; column < axes.size(); ++column)
    cells += element("td", {{"class", "wide"}}, axes[column]);
  return element("tr", {{"class", "group"}}, cells);
}

Markup ablation_table(const std::string& name, const Markup& head, const Markup& bodies) {
  return scrolled(name,
                  element("table", {{"class", "ablation"}}, element("thead", {}, head) + bodies));
}

Markup first_table(const TaskView& view, const Grid& group) {
  const auto place = place_of(view, group);
  return ablation_table(fmt::format("{}: {}", view.task.name, place),
                        head_of(view, group, place, true), rows_of(view, group, true)) +
         folded(kInWords, in_words(view, group));
}

/// Whether every score is 0 and no verdict claims anything.
bool is_silent(const Grid& group) {
  const auto speaks = [](const GridCell& cell) {
    return (cell.verdict && is_claim(*cell.verdict)) ||
           (cell.strip && !cell.strip->zero &&
            std::ranges::any_of(cell.strip->values, [](double value) { return value != 0; }));
  };
  return std::ranges::none_of(group.rows,
                              [&](const GridRow& row) { return std::ranges::any_of(row, speaks); });
}

/// The groups that say something; then "length 14; length 16: exact match is 0 in every run."
Markup further_table(const TaskView& view, std::span<const Grid> groups) {
  Markup bodies, sentences;
  std::vector<std::string> silent;
  for (const auto& group : groups) {
    if (is_silent(group)) {
      silent.push_back(group.title);
      continue;
    }
    bodies += element("tbody", {}, group_line(group)) + rows_of(view, group, false);
    if (const auto words = in_words(view, group); !words.empty())
      sentences += heading("h4", place_of(view, group)) + words;
  }
  const auto metric = analysis::display_name(leading_metric(view.task));
  auto content = heading("h3", "Further test sets");
  if (!bodies.empty())
    content += ablation_table("Further test sets of " + view.task.name,
                              head_of(view, groups.front(), metric, false), bodies) +
               folded(kInWords, sentences);
  if (!silent.empty())
    content += paragraph("muted",
                         fmt::format("{}: {} is 0 in every run.", fmt::join(silent, "; "), metric));
  return content;
}

}  // namespace

Markup ablation(const TaskView& view) {
  const auto groups = groups_of(without_empty_columns(contrast_grid(view.evidence, view.task)));
  if (groups.empty()) return paragraph("muted", "No run of this task has finished.");
  return paragraph("muted", view.task.family) + first_table(view, groups.front()) +
         (groups.size() == 1 ? Markup() : further_table(view, std::span(groups).subspan(1)));
}

}  // namespace ablate::report
