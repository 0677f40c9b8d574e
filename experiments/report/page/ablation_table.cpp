#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/analysis/figure.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"
#include "experiments/report/page/scores.h"

namespace ablate::report {
namespace {

/// The columns of a contrast: mean, pairs, two p values for each test, verdict.
size_t contrast_columns(const TaskView& view) { return view.task.margin ? 7 : 5; }

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

/// A symbol for the verdict beside its words.
const char* sign_of(analysis::Verdict verdict) {
  switch (verdict) {
    case analysis::Verdict::better:
      return "\u25b2 ";
    case analysis::Verdict::worse:
      return "\u25bc ";
    case analysis::Verdict::equivalent:
      return "= ";
    case analysis::Verdict::indistinguishable:
      return "\u2248 ";
    case analysis::Verdict::undecided:
    case analysis::Verdict::too_few_seeds:
    case analysis::Verdict::not_learned:
    case analysis::Verdict::uneven:
    case analysis::Verdict::censored:
    case analysis::Verdict::not_tested:
    case analysis::Verdict::exploratory:
      return "\u00b7 ";
  }
  return "";
}

const char* class_of(analysis::Verdict verdict) {
  return verdict == analysis::Verdict::better  ? "verdict better"
         : verdict == analysis::Verdict::worse ? "verdict worse"
                                               : "verdict";
}

/// The changes of the arm, without keys that another kind replaces.
Markup changes_of(const analysis::ArmEvidence& arm) {
  if (arm.baseline) return element("span", {{"class", "changes"}}, text("baseline"));
  const bool any_value = std::ranges::any_of(
      arm.changes, [](const analysis::ChangedKey& change) { return !change.value.empty(); });
  Markup list;
  for (const auto& [path, baseline, value] : arm.changes)
    if (!any_value || !value.empty())
      list += element("code", {{"title", "instead of " + or_absent(baseline)}},
                      breakable(path) + text(": " + or_absent(value)));
  return element("span", {{"class", "changes"}}, list);
}

/// A figure with its interval below it.
Markup estimate(const std::string& mean, const std::optional<statistics::Interval>& around,
                const std::string& metric, bool bold = false) {
  const auto figure = bold ? element("strong", {}, text(mean)) : text(mean);
  return element("td", {{"class", "number"}},
                 figure + element("span", {{"class", "below"}}, text(interval(around, metric))));
}

Markup folded_words(const Markup& sentences) {
  return sentences.empty() ? sentences : folded("Verdicts in words", sentences);
}

Markup sample_cells(const TaskView& view, const ScoreGroup& group, const ScoreRow& row) {
  const auto& sample = row.cell->sample;
  auto cells = number_cell(std::to_string(sample.count)) +
               estimate(typeset(analysis::mean_figure(sample, group.metric)), sample.interval,
                        group.metric, row.cell->best) +
               element("td", {}, draw(value_strip(view, row), group.values));
  if (group.counted)
    cells += number_cell(row.cell->success ? fmt::format("{} of {}", row.cell->success->solved,
                                                         row.cell->success->runs)
                                           : "");
  return cells;
}

Markup p_cells(const analysis::Test& test) {
  return number_cell(typeset(analysis::p_figure(test.p))) +
         number_cell(typeset(analysis::p_figure(test.holm_p)));
}

Markup contrast_cells(const TaskView& view, const ScoreGroup& group, const ScoreRow& row) {
  if (!row.cell->contrast)
    return element("td", {{"colspan", std::to_string(contrast_columns(view))}, {"class", "muted"}},
                   text(row.arm->baseline ? "the baseline of the other arms" : ""));
  const auto& contrast = *row.cell->contrast;
  return estimate(difference(contrast.mean, group.metric), contrast.interval, group.metric) +
         element("td", {}, draw(difference_strip(view, row), group.differences)) +
         p_cells(contrast.difference) +
         (view.task.margin ? p_cells(contrast.equivalence) : Markup()) +
         element("td", {{"class", class_of(contrast.verdict)}},
                 text(sign_of(contrast.verdict) + analysis::display_name(contrast.verdict)));
}

std::string mean_of(const analysis::Sample& sample, const std::string& unit) {
  return sample.count > 0 && sample.mean > 0 ? large(sample.mean) + unit : "\u2013";
}

Markup cost_cells(const analysis::ArmEvidence& arm) {
  return number_cell(typeset(analysis::parameters_figure(arm))) +
         number_cell(arm.flops_per_token > 0 ? large(arm.flops_per_token) : "\u2013") +
         number_cell(mean_of(arm.tokens_per_second, "")) +
         number_cell(mean_of(arm.training_seconds, "")) +
         number_cell(mean_of(arm.memory_bytes, "B"));
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

/// "base", "base, of tuned arms from base-tuned"
std::string baseline_names(const analysis::TaskEvidence& task) {
  std::string fixed, tuned;
  for (const auto& arm : task.arms)
    if (arm.baseline) (arm.tuned ? tuned : fixed) = arm.name;
  return tuned.empty() ? fixed : fmt::format("{}, of tuned arms from {}", fixed, tuned);
}

/// The column headings; `axes` if only one group is below them.
Markup head_of(const TaskView& view, const ScoreGroup& group, bool alone) {
  auto above =
      element("td") + spanning(alone ? place_of(group) : analysis::display_name(group.metric),
                               group.counted ? 4 : 3);
  const auto axis = [&](const Extent& extent) {
    return alone ? strip_axis(extent, group.metric) : Markup();
  };
  auto below = with_below("", "arm", alone ? "changed keys" : "") + number_heading("n") +
               with_below("number", "mean", "95 % interval") +
               element("th", {{"scope", "col"}}, text("every seed") + axis(group.values));
  if (group.counted) below += number_heading("solved");
  if (group.contrasted) {
    above += spanning("difference from " + baseline_names(view.task), contrast_columns(view));
    below += with_below("number", "mean", "95 % interval") +
             element("th", {{"scope", "col"}}, text("every pair") + axis(group.differences)) +
             number_heading("p") + number_heading("Holm p");
    if (view.task.margin)
      below += with_below("number", "p", fmt::format("below {}", *view.task.margin)) +
               number_heading("Holm p");
    below += column_heading("verdict");
  }
  if (alone) {
    above += spanning("cost", 5);
    below += number_heading("parameters") + with_below("number", "FLOPs", "per predicted token") +
             with_below("number", "tokens", "per second") +
             with_below("number", "training", "seconds") + number_heading("memory");
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
    if (alone) cells += cost_cells(*one.arm);
    rows += element("tr", {{"class", one.arm->baseline ? "baseline" : "other"}}, cells);
  }
  return rows;
}

/// A line above a group's rows with its test set and its axes.
Markup group_line(const TaskView& view, const ScoreGroup& group) {
  auto cells = element("th", {{"scope", "rowgroup"}, {"colspan", "3"}, {"class", "group"}},
                       text(test_set_of(group))) +
               element("td", {}, strip_axis(group.values, group.metric));
  if (group.counted) cells += element("td");
  if (group.contrasted)
    cells += element("td") + element("td", {}, strip_axis(group.differences, group.metric)) +
             element("td", {{"colspan", std::to_string(contrast_columns(view) - 2)}});
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

Markup further_table(const TaskView& view, const std::vector<ScoreGroup>& groups) {
  Markup bodies, sentences;
  for (const auto& group : groups) {
    bodies += element("tbody", {}, group_line(view, group) + rows_of(view, group, false));
    if (const auto words = in_words(group); !words.empty())
      sentences += heading("h4", "", place_of(group)) + words;
  }
  const auto& widest = *std::ranges::max_element(groups, {}, [](const ScoreGroup& group) {
    return (group.counted ? 1 : 0) + (group.contrasted ? 2 : 0);
  });
  return heading("h3", "", "Further test sets") +
         ablation_table("Further test sets of " + view.task.name, head_of(view, widest, false),
                        bodies) +
         folded_words(sentences);
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
  return groups.empty() ? first : first + further_table(view, groups);
}

Markup tuning(const analysis::Evidence& evidence, const Looks& looks) {
  if (!evidence.tuning || evidence.tuning->tried.empty()) return {};
  const auto& tuning = *evidence.tuning;
  Markup rows;
  for (const auto& one : tuning.tried)
    rows += row(cell(one.task) + row_heading(looks.named(one.arm)) + cell(one.value) +
                number_cell(std::isnan(one.score) ? "diverged" : score(one.score, tuning.metric),
                            one.chosen) +
                cell(one.chosen ? "chosen" : ""));
  const auto head = column_heading("task") + column_heading("arm") + column_heading("value") +
                    number_heading(analysis::display_name(tuning.metric)) + column_heading("");
  return element(
      "section", {{"id", "tuning"}},
      heading("h2", "", "Tuning") +
          paragraph("",
                    fmt::format("The values of {} that were tried for each arm, by {}: the mean "
                                "over {} {}. Test sets play no part.",
                                tuning.key, analysis::display_name(tuning.metric),
                                tuning.seeds.size() == 1 ? "seed" : "seeds",
                                fmt::join(tuning.seeds, ", "))) +
          scrolled("Tuning", table(row(head), rows)));
}

}  // namespace ablate::report
