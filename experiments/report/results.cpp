#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/report/number.h"
#include "experiments/report/sections.h"
#include "experiments/report/strip.h"

namespace ablate::experiments {
namespace {

/// The rows of one metric on one test set.
struct Group {
  std::string test_set, metric;
  std::vector<std::pair<const ArmEvidence*, const Cell*>> rows;
  int decimals = 3;
  Extent values, differences;  // of all rows: strips share an axis
  bool contrasted = false, counted = false;
  bool beyond = false;
  const Cell* best = nullptr;
};

std::vector<std::string> seed_names(const Evidence& evidence) {
  std::vector<std::string> names;
  for (const auto seed : evidence.seeds) names.push_back(fmt::format("seed {}", seed));
  return names;
}

Strip value_strip(const TaskView& view, const ArmEvidence& arm, const Cell& cell) {
  return {.look = view.looks.of(arm.name),
          .values = cell.sample.values,
          .names = seed_names(view.evidence),
          .mean = cell.sample.mean,
          .interval = cell.sample.interval,
          .decimals = decimals_of(cell.metric)};
}

Strip difference_strip(const TaskView& view, const ArmEvidence& arm, const Cell& cell) {
  std::vector<std::string> names;
  for (size_t i = 0; i < cell.contrast->differences.size(); ++i)
    names.push_back(fmt::format("pair {}", i + 1));
  return {.look = view.looks.of(arm.name),
          .values = cell.contrast->differences,
          .names = names,
          .mean = cell.contrast->mean,
          .interval = cell.contrast->interval,
          .decimals = decimals_of(cell.metric),
          .zero = true};
}

bool better(const Cell& left, const Cell& right) {
  return left.direction == Direction::higher ? left.sample.mean > right.sample.mean
                                             : left.sample.mean < right.sample.mean;
}

Group group_of(const TaskView& view, const std::string& test_set, const std::string& metric) {
  Group group{.test_set = test_set, .metric = metric, .rows = {},
              .decimals = decimals_of(metric), .values = {}, .differences = {}};
  for (const auto& arm : view.task.arms) {
    const auto* found = find_cell(arm, test_set, metric);
    if (found == nullptr) continue;
    group.rows.emplace_back(&arm, found);
    group.beyond = found->beyond;
    take(group.values, value_strip(view, arm, *found));
    if (found->contrast) take(group.differences, difference_strip(view, arm, *found));
    group.contrasted = group.contrasted || found->contrast;
    group.counted = group.counted || found->success;
    if (found->sample.count > 0 && (group.best == nullptr || better(*found, *group.best)))
      group.best = found;
  }
  return group;
}

const char* words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::better: return "\u25b2 better";
    case Verdict::worse: return "\u25bc worse";
    case Verdict::indistinguishable: return "\u2248 not distinguishable";
    case Verdict::too_few_seeds: return "\u00b7 too few seeds";
    case Verdict::not_learned: return "\u00b7 not learned";
    case Verdict::uneven: return "\u00b7 other seeds";
    case Verdict::not_tested: return "\u00b7 not finite";
    case Verdict::secondary: return "";
  }
  return "";
}

const char* class_of(Verdict verdict) {
  return verdict == Verdict::better ? "verdict better"
         : verdict == Verdict::worse ? "verdict worse"
                                     : "verdict";
}

Markup changes_of(const ArmEvidence& arm) {
  if (arm.baseline) return element("span", {{"class", "muted"}}, text("baseline"));
  Markup list;
  for (const auto& change : arm.changes)
    list += element("code", {{"title", fmt::format("{}: {} instead of {}", change.path,
                                                   change.value, change.baseline)}},
                    text(change.path + ": " + (change.value.empty() ? "absent" : change.value)));
  return element("span", {{"class", "changes"}}, list);
}

Markup arm_cell(const TaskView& view, const ArmEvidence& arm) {
  return row_heading(view.looks.named(arm.name) + changes_of(arm));
}

Markup sample_cells(const TaskView& view, const Group& group, const ArmEvidence& arm,
                    const Cell& found) {
  const auto mean = text(fixed(found.sample.mean, group.decimals));
  auto cells = number_cell(std::to_string(found.sample.count)) +
               element("td", {{"class", "number"}},
                       &found == group.best ? element("strong", {}, mean) : mean) +
               number_cell(found.sample.interval ? interval(*found.sample.interval, group.decimals)
                                                 : "") +
               element("td", {}, draw(value_strip(view, arm, found), group.values));
  if (group.counted)
    cells += number_cell(found.success
                             ? fmt::format("{} of {}", found.success->solved, found.success->runs)
                             : "");
  return cells;
}

Markup contrast_cells(const TaskView& view, const Group& group, const ArmEvidence& arm,
                      const Cell& found) {
  if (!found.contrast) return element("td", {{"colspan", "6"}, {"class", "muted"}}, text(arm.baseline ? "what the others are compared with" : ""));
  const auto& contrast = *found.contrast;
  return number_cell(difference(contrast.mean, group.decimals)) +
         number_cell(contrast.interval ? interval(*contrast.interval, group.decimals) : "") +
         element("td", {}, draw(difference_strip(view, arm, found), group.differences)) +
         number_cell(probability(contrast.p)) + number_cell(probability(contrast.holm_p)) +
         element("td", {{"class", class_of(contrast.verdict)}}, text(words_of(contrast.verdict)));
}

std::string parameters_of(const ArmEvidence& arm) {
  const auto all = large(static_cast<double>(arm.parameters));
  if (arm.active_parameters == 0 || arm.active_parameters == arm.parameters) return all;
  return fmt::format("{} of {}", large(static_cast<double>(arm.active_parameters)), all);
}

Markup cost_cells(const ArmEvidence& arm) {
  return number_cell(parameters_of(arm)) +
         number_cell(arm.flops_per_token > 0 ? large(arm.flops_per_token) : "\u2013") +
         number_cell(arm.tokens_per_second.count > 0 ? large(arm.tokens_per_second.mean)
                                                     : "\u2013") +
         number_cell(arm.training_seconds.count > 0 ? plain(arm.training_seconds.mean) + " s"
                                                    : "\u2013") +
         number_cell(arm.memory_bytes.count > 0 && arm.memory_bytes.mean > 0
                         ? large(arm.memory_bytes.mean) + "B"
                         : "\u2013");
}

Markup spanning(const std::string& words, size_t columns) {
  return element("th", {{"scope", "colgroup"}, {"colspan", std::to_string(columns)},
                        {"class", "group"}},
                 text(words));
}

Markup number_heading(const std::string& words) {
  return element("th", {{"scope", "col"}, {"class", "number"}}, text(words));
}

Markup strip_heading(const std::string& words, const Extent& extent, int decimals) {
  return element("th", {{"scope", "col"}}, text(words) + strip_axis(extent, decimals));
}

Markup head_of(const TaskView& view, const Group& group, bool costs) {
  const auto place = group.test_set.empty() ? "" : " on " + group.test_set;
  auto above = element("td", {}) + spanning(readable(group.metric) + place + (group.beyond ? " (beyond training)" : ""),
                                           group.counted ? 5 : 4);
  auto below = column_heading("arm, changed keys") + number_heading("n") + number_heading("mean") +
               number_heading("95 % interval") +
               strip_heading("every seed", group.values, group.decimals);
  if (group.counted) below += number_heading("solved");
  if (group.contrasted) {
    above += spanning("difference from " + view.evidence.baseline.value_or("the baseline"), 6);
    below += number_heading("mean") + number_heading("95 % interval") +
             strip_heading("every pair", group.differences, group.decimals) + number_heading("p") +
             number_heading("Holm p") + column_heading("verdict");
  }
  if (costs) {
    above += spanning("cost", 5);
    below += number_heading("parameters") + number_heading("FLOPs/piece") +
             number_heading("pieces/s") + number_heading("training") + number_heading("memory");
  }
  return row(above) + row(below);
}

Markup table_of(const TaskView& view, const Group& group, bool costs) {
  Markup rows;
  for (const auto& [arm, found] : group.rows) {
    auto cells = arm_cell(view, *arm) + sample_cells(view, group, *arm, *found);
    if (group.contrasted) cells += contrast_cells(view, group, *arm, *found);
    if (costs) cells += cost_cells(*arm);
    rows += element("tr", {{"class", arm->baseline ? "baseline" : "arm-row"}}, cells);
  }
  return scrolled(fmt::format("{} of {} on {}", readable(group.metric), view.task.name,
                              group.test_set),
                  element("table", {{"class", "ablation"}},
                          element("thead", {}, head_of(view, group, costs)) +
                              element("tbody", {}, rows)));
}

Markup in_words(const Group& group) {
  Markup items;
  for (const auto& [arm, found] : group.rows)
    if (found->contrast && !found->contrast->sentence.empty())
      items += element("li", {}, text(found->contrast->sentence));
  return items.empty() ? items : element("ul", {{"class", "words"}}, items);
}

std::string score_text(const Cell* found) {
  if (found == nullptr || found->sample.count == 0) return "";
  const int decimals = decimals_of(found->metric);
  return fixed(found->sample.mean, decimals) +
         (found->sample.count > 1 ? " \u00b1 " + fixed(found->sample.deviation, decimals) : "");
}

/// Every metric of every test set, a row for each arm.
Markup all_scores(const TaskView& view) {
  const auto all = metrics(view.task);
  Markup head = column_heading("arm") + column_heading("test set"), rows;
  for (const auto& metric : all) head += number_heading(readable(metric));
  for (const auto& arm : view.task.arms)
    for (const auto& test_set : test_sets(view.task)) {
      auto cells = row_heading(text(arm.name)) +
                   cell(test_set.empty() ? "training and validation" : test_set);
      for (const auto& metric : all)
        cells += number_cell(score_text(find_cell(arm, test_set, metric)));
      rows += row(cells);
    }
  return folded("Every metric: mean \u00b1 standard deviation over seeds",
                scrolled("Every metric of " + view.task.name, table(row(head), rows)));
}

/// The leading metric of every run.
Markup all_seeds(const TaskView& view, const std::string& metric) {
  Markup head = column_heading("arm") + column_heading("test set"), rows;
  for (const auto& name : seed_names(view.evidence)) head += number_heading(name);
  for (const auto& arm : view.task.arms)
    for (const auto& one : arm.cells) {
      if (one.metric != metric) continue;
      auto cells = row_heading(text(arm.name)) + cell(one.test_set);
      for (const double value : one.sample.values)
        cells += number_cell(fixed(value, decimals_of(metric)));
      rows += row(cells);
    }
  return folded("Every seed: " + readable(metric),
                scrolled("Every seed of " + view.task.name, table(row(head), rows)));
}

Markup sentence_tests(const TaskView& view) {
  Markup rows;
  for (const auto& arm : view.task.arms)
    for (const auto& one : arm.cells)
      for (const auto& test : one.sentence_tests)
        rows += row(row_heading(text(arm.name)) + cell(one.test_set) + cell(readable(one.metric)) +
                    number_cell(std::to_string(test.seed)) +
                    number_cell(difference(test.difference, decimals_of(one.metric))) +
                    number_cell(probability(test.bootstrap_p)) +
                    number_cell(probability(test.randomisation_p)));
  if (rows.empty()) return {};
  const auto head = column_heading("arm") + column_heading("test set") + column_heading("metric") +
                    number_heading("seed") + number_heading("difference") +
                    number_heading("p (bootstrap)") + number_heading("p (randomisation)");
  return folded("Sentence tests: do two outputs differ on this very test set?",
                scrolled("Sentence tests of " + view.task.name, table(row(head), rows)));
}

}  // namespace

Markup results(const TaskView& view) {
  const auto metric = leading_metric(view);
  Markup content, further;
  bool first = true;
  for (const auto& test_set : test_sets(view.task)) {
    const auto group = group_of(view, test_set, metric);
    if (group.rows.empty()) continue;
    (first ? content : further) += table_of(view, group, first) + in_words(group);
    first = false;
  }
  if (!further.empty())
    content += heading("h3", "", "Further test sets") + further;
  return content + all_seeds(view, metric) + all_scores(view) + sentence_tests(view);
}

}  // namespace ablate::experiments
