#include "experiments/report/page/scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/analysis/figure.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

std::vector<std::string> seed_names(const analysis::Evidence& evidence) {
  std::vector<std::string> names;
  for (const auto seed : evidence.seeds) names.push_back(fmt::format("seed {}", seed));
  return names;
}

}  // namespace

Strip value_strip(const TaskView& view, const ScoreRow& row) {
  return {.look = view.looks.of(row.arm->name),
          .values = row.cell->sample.values,
          .names = seed_names(view.evidence),
          .mean = row.cell->sample.mean,
          .interval = row.cell->sample.interval,
          .metric = row.cell->metric};
}

Strip difference_strip(const TaskView& view, const ScoreRow& row) {
  const auto& contrast = *row.cell->contrast;
  std::vector<std::string> names;
  for (size_t i = 0; i < contrast.differences.size(); ++i)
    names.push_back(fmt::format("pair {}", i + 1));
  return {.look = view.looks.of(row.arm->name),
          .values = contrast.differences,
          .names = names,
          .mean = contrast.mean,
          .interval = contrast.interval,
          .metric = row.cell->metric,
          .zero = true};
}

ScoreGroup group_of(const TaskView& view, const std::string& test_set, const std::string& metric) {
  ScoreGroup group{
      .test_set = test_set, .metric = metric, .rows = {}, .values = {}, .differences = {}};
  for (const auto& arm : view.task.arms) {
    const auto* found = analysis::find_cell(arm, test_set, metric);
    if (found == nullptr) continue;
    const ScoreRow& row = group.rows.emplace_back(ScoreRow{&arm, found});
    group.extrapolates = found->extrapolates;
    take(group.values, value_strip(view, row));
    if (found->contrast) take(group.differences, difference_strip(view, row));
    group.contrasted = group.contrasted || found->contrast;
    group.counted = group.counted || found->success;
  }
  return group;
}

namespace {

std::string score_text(const analysis::Cell* found) {
  if (found == nullptr) return "";
  auto mean = typeset(analysis::mean_figure(found->sample, found->metric));
  if (found->sample.count < 2 || analysis::is_censored(found->sample)) return mean;
  return mean + " \u00b1 " + score(found->sample.deviation, found->metric);
}

/// Every metric of some test sets, a row for each arm and test set.
Markup score_table(const TaskView& view, const std::vector<std::string>& sets) {
  std::vector<std::string> all;
  for (const auto& cell : view.task.arms.front().cells)
    if (std::ranges::find(sets, cell.test_set) != sets.end() &&
        std::ranges::find(all, cell.metric) == all.end())
      all.push_back(cell.metric);
  const bool named = sets.size() > 1 || !sets.front().empty();
  Markup head = column_heading("arm") + (named ? column_heading("test set") : Markup()), rows;
  for (const auto& metric : all) head += number_heading(analysis::display_name(metric));
  for (const auto& test_set : sets)
    for (const auto& arm : view.task.arms) {
      auto cells = row_heading(text(arm.name)) + (named ? cell(test_set) : Markup());
      for (const auto& metric : all) {
        const auto* found = analysis::find_cell(arm, test_set, metric);
        cells += number_cell(score_text(found), found != nullptr && found->best);
      }
      rows += row(cells);
    }
  return scrolled("Every metric of " + view.task.name, table(row(head), rows));
}

Markup all_scores(const TaskView& view) {
  auto sets = test_sets(view.task);
  const bool training = std::erase(sets, "") > 0;
  Markup tables;
  if (!sets.empty()) tables += score_table(view, sets);
  if (training) tables += score_table(view, {""});
  return folded("Every metric: mean \u00b1 standard deviation over seeds", tables);
}

/// The leading metric of every run.
Markup all_seeds(const TaskView& view, const std::string& metric) {
  Markup head = column_heading("arm") + column_heading("test set"), rows;
  for (const auto seed : view.evidence.seeds) head += number_heading(fmt::format("seed {}", seed));
  for (const auto& arm : view.task.arms)
    for (const auto& one : arm.cells) {
      if (one.metric != metric) continue;
      auto cells = row_heading(text(arm.name)) + cell(one.test_set);
      for (size_t i = 0; i < one.sample.values.size(); ++i)
        cells += number_cell(typeset(analysis::value_figure(one.sample, i, metric)));
      rows += row(cells);
    }
  return folded("Every seed: " + analysis::display_name(metric),
                scrolled("Every seed of " + view.task.name, table(row(head), rows)));
}

Markup sentence_tests(const TaskView& view) {
  Markup rows;
  for (const auto& arm : view.task.arms)
    for (const auto& one : arm.cells)
      for (const auto& test : one.sentence_tests)
        rows +=
            row(row_heading(text(arm.name)) + cell(one.test_set) +
                cell(analysis::display_name(one.metric)) + number_cell(std::to_string(test.seed)) +
                number_cell(difference(test.difference, one.metric)) +
                number_cell(analysis::p_figure(test.bootstrap_p)) +
                number_cell(analysis::p_figure(test.randomisation_p)));
  if (rows.empty()) return {};
  const auto head = column_heading("arm") + column_heading("test set") + column_heading("metric") +
                    number_heading("seed") + number_heading("difference") +
                    number_heading("p (bootstrap)") + number_heading("p (randomisation)");
  return folded("Sentence tests: do two outputs differ on this very test set?",
                scrolled("Sentence tests of " + view.task.name, table(row(head), rows)));
}

}  // namespace

Markup scores(const TaskView& view) {
  return all_seeds(view, leading_metric(view.task)) + all_scores(view) + sentence_tests(view);
}

namespace {

constexpr size_t kMostCharacters = 400;

Markup line_of(const Markup& who, const std::string& words, const std::string& mark) {
  return row(
      row_heading(who) +
      element("td", {{"class", mark == "exact" ? "match exact" : "match muted"}}, text(mark)) +
      element("td", {{"class", "sample"}}, text(shown(words, kMostCharacters))));
}

Markup draw_samples(const TaskView& view, const SampleOutputs& sample) {
  Markup rows;
  if (!sample.source.empty()) rows += line_of(text("source"), sample.source, "");
  rows += line_of(text("reference"), sample.reference, "");
  for (const auto& [arm, output, exact] : sample.outputs)
    rows += line_of(view.looks.named(arm), output, exact ? "exact" : "differs");
  const auto name = fmt::format("{}, seed {}", sample.test_set, sample.seed);
  return element("div", {{"class", "sample-box"}},
                 heading("h4", "", name) +
                     scrolled("Outputs: " + name, element("table", {{"class", "samples"}},
                                                          element("tbody", {}, rows))));
}

}  // namespace

Markup samples(const TaskView& view) {
  Markup all;
  for (const auto& sample : view.data.samples)
    if (sample.task == view.task.name) all += draw_samples(view, sample);
  if (all.empty()) return all;
  return heading("h3", "", "Sample outputs") +
         paragraph("", "The same examples for every arm, chosen by their place in the test set.") +
         element("div", {{"class", "figures"}}, all);
}

}  // namespace ablate::report
