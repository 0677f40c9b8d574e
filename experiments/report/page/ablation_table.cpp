#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "experiments/analysis/figure.h"
#include "experiments/config/schema/option.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"
#include "experiments/report/page/scores.h"

namespace ablate::report {
namespace {

/// The columns of a contrast: mean, pairs, two p values for each test, the smallest visible
/// difference, verdict.
size_t contrast_columns(const TaskView& view) { return analysis::tests_margins(view.task) ? 8 : 6; }

std::string claim_text(const analysis::Contrast& contrast) {
  return contrast.outcome ? "the claim: " + analysis::claim_words(contrast) : "";
}

std::string test_set_of(const ScoreGroup& group) {
  return group.test_set + (group.extrapolates ? ", beyond training" : "");
}

std::string place_of(const ScoreGroup& group) {
  return analysis::display_name(group.metric) +
         (group.test_set.empty() ? "" : " on " + test_set_of(group));
}

Markup in_words(const ScoreGroup& group) {
  Markup items;
  for (const auto& row : group.rows)
    if (row.cell->contrast && !row.cell->contrast->sentence.empty())
      items += element(
          "li", {},
          element("strong", {}, text(row.arm->name + ": ")) + text(row.cell->contrast->sentence));
  return items.empty() ? items : element("ul", {}, items);
}

std::string class_of(analysis::Verdict verdict) {
  if (!is_claim(verdict)) return "verdict";
  return "verdict claim " + std::string(config::word_of(verdict));
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

struct Figure {
  std::string words;
  bool bold = false;
};

/// A figure with its interval below it.
Markup estimate(const char* kind, const Figure& figure, const std::string& around) {
  return element("td", {{"class", kind}},
                 (figure.bold ? element("strong", {}, text(figure.words)) : text(figure.words)) +
                     element("span", {{"class", "below"}}, text(around)));
}

Markup folded_words(const Markup& sentences) {
  return sentences.empty() ? sentences : folded("Verdicts in words", sentences);
}

/// The number of runs of every row; absent if it differs.
std::optional<int64_t> runs_of_each(const ScoreGroup& group) {
  const auto count = group.rows.front().cell->sample.count;
  const bool equal = std::ranges::all_of(
      group.rows, [&](const ScoreRow& row) { return row.cell->sample.count == count; });
  return equal ? std::optional(count) : std::nullopt;
}

Markup wide_number(const std::string& words) {
  return element("td", {{"class", "number wide"}}, text(words));
}

Markup sample_cells(const TaskView& view, const ScoreGroup& group, const ScoreRow& row) {
  const auto& sample = row.cell->sample;
  auto cells =
      estimate("number", {typeset(analysis::mean_figure(sample, group.metric)), row.cell->best},
               interval(sample.interval, group.metric)) +
      element("td", {{"class", "wide"}}, draw(value_strip(view, row), group.values));
  if (!runs_of_each(group)) cells += wide_number(std::to_string(sample.count));
  if (group.counted)
    cells += wide_number(row.cell->success ? fmt::format("{} of {}", row.cell->success->solved,
                                                         row.cell->success->runs)
                                           : "");
  return cells;
}

Markup p_cells(const analysis::Test& test) {
  return wide_number(typeset(analysis::p_figure(test.p))) +
         wide_number(typeset(analysis::p_figure(test.adjusted_p)));
}

Markup contrast_cells(const TaskView& view, const ScoreGroup& group, const ScoreRow& row) {
  if (!row.cell->contrast)
    return element(
        "td", {{"colspan", std::to_string(contrast_columns(view))}, {"class", "muted verdict"}},
        text(row.arm->baseline ? "baseline" : ""));
  const auto& contrast = *row.cell->contrast;
  return estimate("number difference", {difference(contrast.mean, group.metric)},
                  interval(contrast.interval, group.metric)) +
         element("td", {{"class", "wide"}}, draw(difference_strip(view, row), group.differences)) +
         p_cells(contrast.difference) +
         (analysis::tests_margins(view.task) ? p_cells(contrast.within) : Markup()) +
         wide_number(analysis::detectable_figure(contrast, group.metric)) +
         element("td", {{"class", class_of(contrast.verdict)}},
                 text(sign_of(contrast.verdict) + analysis::verdict_figure(contrast)) +
                     element("span", {{"class", "below"}}, text(claim_text(contrast))));
}

Markup spanning(const std::string& words, size_t columns) {
  return element("th",
                 {{"scope", "colgroup"}, {"colspan", std::to_string(columns)}, {"class", "group"}},
                 text(words));
}

Markup with_below(const char* kind, const std::string& words, const std::string& below) {
  return element("th", {{"scope", "col"}, {"class", kind}},
                 text(words) + element("span", {{"class", "below"}}, text(below)));
}

std::string seeds_of_each(const ScoreGroup& group) {
  const auto runs = runs_of_each(group);
  return runs ? fmt::format(", {} {}", *runs, *runs == 1 ? "seed" : "seeds") : "";
}

size_t sample_columns(const ScoreGroup& group) {
  return 2 + (runs_of_each(group) ? 0 : 1) + (group.counted ? 1 : 0);
}

/// The column headings; `alone` if only one group is below them.
Markup head_of(const TaskView& view, const ScoreGroup& group, bool alone) {
  auto above =
      element("td", {{"class", "wide"}}) + spanning(alone ? place_of(group) + seeds_of_each(group)
                                                          : analysis::display_name(group.metric),
                                                    sample_columns(group));
  const auto axis = [&](const Extent& extent) {
    return alone ? strip_axis(extent, group.metric) : Markup();
  };
  auto below = with_below("", "arm", alone ? "changed keys" : "") +
               with_below("number", "mean", "95 % interval") +
               element("th", {{"scope", "col"}}, text("every seed") + axis(group.values));
  if (!runs_of_each(group)) below += number_heading("seeds");
  if (group.counted) below += number_heading("\u2265 95 % right in");
  if (group.contrasted) {
    above += spanning("difference from " + baseline_name(view.task), contrast_columns(view));
    below += with_below("number", "mean", "95 % interval") +
             element("th", {{"scope", "col"}}, text("every pair") + axis(group.differences)) +
             number_heading("p") + number_heading("corrected p");
    if (analysis::tests_margins(view.task))
      below += with_below("number", "p", "below the margin") + number_heading("corrected p");
    below += with_below("number", "could see", "in 80 % of studies") + column_heading("verdict");
  }
  return row(above) + row(below);
}

Markup rows_of(const TaskView& view, const ScoreGroup& group, bool alone) {
  Markup rows;
  for (const auto& one : group.rows) {
    auto cells =
        row_heading(view.looks.named(one.arm->name) + (alone ? changes_of(*one.arm) : Markup())) +
        sample_cells(view, group, one);
    if (group.contrasted) cells += contrast_cells(view, group, one);
    rows += element("tr", {{"class", one.arm->baseline ? "baseline" : "other"}}, cells);
  }
  return rows;
}

/// A line above a group's rows with its test set and its axes.
Markup group_line(const TaskView& view, const ScoreGroup& group) {
  const auto axis = [](const Extent& extent, const std::string& metric) {
    return element("td", {{"class", "wide"}}, strip_axis(extent, metric));
  };
  const auto filler = [](size_t columns) {
    return element("td", {{"class", "wide"}, {"colspan", std::to_string(columns)}});
  };
  auto cells = element("th", {{"scope", "rowgroup"}, {"colspan", "2"}, {"class", "group"}},
                       text(test_set_of(group) + seeds_of_each(group))) +
               axis(group.values, group.metric);
  if (sample_columns(group) > 2) cells += filler(sample_columns(group) - 2);
  if (group.contrasted)
    cells += filler(1) + axis(group.differences, group.metric) + filler(contrast_columns(view) - 2);
  return element("tr", {{"class", "group"}}, cells);
}

Markup ablation_table(const std::string& name, const Markup& head, const Markup& bodies) {
  return scrolled(name,
                  element("table", {{"class", "ablation"}}, element("thead", {}, head) + bodies));
}

Markup first_table(const TaskView& view, const ScoreGroup& group) {
  return ablation_table(fmt::format("{}: {}", view.task.name, place_of(group)),
                        head_of(view, group, true),
                        element("tbody", {}, rows_of(view, group, true))) +
         folded_words(in_words(group));
}

/// Whether every score is 0 and no verdict claims anything.
bool is_silent(const ScoreGroup& group) {
  return std::ranges::all_of(group.rows, [](const ScoreRow& row) {
    return std::ranges::all_of(row.cell->sample.values, [](double value) { return value == 0; }) &&
           !(row.cell->contrast && is_claim(row.cell->contrast->verdict));
  });
}

/// "length 14, length 16: exact match is 0 in every run."
Markup silent_line(const std::vector<ScoreGroup>& groups) {
  std::vector<std::string> names;
  for (const auto& group : groups) names.push_back(test_set_of(group));
  if (groups.empty()) return {};
  return paragraph("muted", fmt::format("{}: {} is 0 in every run.", fmt::join(names, "; "),
                                        analysis::display_name(groups.front().metric)));
}

Markup group_table(const TaskView& view, const std::vector<ScoreGroup>& groups) {
  Markup bodies, sentences;
  for (const auto& group : groups) {
    bodies += element("tbody", {}, group_line(view, group) + rows_of(view, group, false));
    if (const auto words = in_words(group); !words.empty())
      sentences += heading("h4", "", place_of(group)) + words;
  }
  const auto& widest = *std::ranges::max_element(groups, {}, [](const ScoreGroup& group) {
    return sample_columns(group) + (group.contrasted ? 4 : 0);
  });
  return ablation_table("Further test sets of " + view.task.name, head_of(view, widest, false),
                        bodies) +
         folded_words(sentences);
}

Markup further_table(const TaskView& view, std::vector<ScoreGroup> groups) {
  const auto silent = std::stable_partition(
      groups.begin(), groups.end(), [](const ScoreGroup& group) { return !is_silent(group); });
  const std::vector<ScoreGroup> zeros(silent, groups.end());
  groups.erase(silent, groups.end());
  return heading("h3", "", "Further test sets") +
         (groups.empty() ? Markup() : group_table(view, groups)) + silent_line(zeros);
}

}  // namespace

Markup ablation(const TaskView& view) {
  const auto metric = leading_metric(view.task);
  std::vector<ScoreGroup> groups;
  for (const auto& test_set : test_sets(view.task))
    if (auto group = group_of(view, test_set, metric); !group.rows.empty())
      groups.push_back(std::move(group));
  if (groups.empty()) return paragraph("muted", "No run of this task has finished.");
  const auto family = view.task.family.empty() ? Markup() : paragraph("muted", view.task.family);
  const auto first = family + first_table(view, groups.front());
  groups.erase(groups.begin());
  return groups.empty() ? first : first + further_table(view, std::move(groups));
}

}  // namespace ablate::report
