#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/figure.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

/// The groups of all tasks with one metric.
struct Measured {
  const analysis::TaskEvidence* task;
  ForestPanel panel;
};

const analysis::Cell* compared_cell(const analysis::ArmEvidence& arm, const std::string& test_set,
                                    const std::string& metric) {
  const auto* cell = analysis::find_cell(arm, test_set, metric);
  return cell != nullptr && cell->contrast && std::isfinite(cell->contrast->mean) ? cell : nullptr;
}

ForestRow row_of(const Looks& looks, const std::string& arm, const analysis::Cell& cell) {
  const auto& contrast = *cell.contrast;
  auto figures = difference(contrast.mean, contrast.interval, cell.metric);
  if (contrast.interval) figures += " " + interval(contrast.interval, cell.metric);
  return {.name = arm,
          .figures = (is_claim(contrast.verdict) ? sign_of(contrast.verdict) : "") + figures,
          .look = looks.of(arm),
          .mean = contrast.mean,
          .interval = contrast.interval,
          .margin = contrast.claim.margin,
          .values = contrast.differences};
}

/// More exploratory test sets than these are left to the table.
constexpr std::ptrdiff_t kMostExploratory = 4;

/// Whether the test set shows something: a primary one always does, another one if runs differ.
bool has_news(const analysis::Cell& cell) {
  return cell.primary || std::ranges::any_of(cell.contrast->differences,
                                             [](double difference) { return difference != 0; });
}

/// Leaves out the groups of exploratory test sets if there are many.
void keep_few(std::vector<Measured>& measured) {
  std::ptrdiff_t exploratory = 0;
  for (const auto& one : measured)
    exploratory += std::ranges::count(one.panel.groups, false, &ForestGroup::primary);
  if (exploratory <= kMostExploratory) return;
  for (auto& one : measured)
    std::erase_if(one.panel.groups, [](const ForestGroup& group) { return !group.primary; });
  std::erase_if(measured, [](const Measured& one) { return one.panel.groups.empty(); });
}

ForestGroup forest_group(const analysis::TaskEvidence& task, const std::string& test_set,
                         const Looks& looks) {
  ForestGroup group;
  bool news = false;
  for (const auto& arm : task.arms)
    if (const auto* cell = compared_cell(arm, test_set, task.metric)) {
      news = news || has_news(*cell);
      group.rows.push_back(row_of(looks, arm.name, *cell));
      group.title = fmt::format("{}{}{}", test_set, cell->extrapolates ? ", beyond training" : "",
                                cell->primary ? "" : ", exploratory");
      group.primary = group.primary || cell->primary;
    }
  if (!news) group.rows.clear();
  return group;
}

/// "worse" and "better than sinusoidal", on the sides where they lie.
void name_sides(const analysis::TaskEvidence& task, ForestPanel& panel) {
  const auto* metric = config::find_metric(task.metric);
  if (metric == nullptr || metric->direction == analysis::Direction::neither) return;
  panel.low_side = "worse";
  panel.high_side = "better than " + shown(baseline_name(task), 24);
  if (metric->direction == analysis::Direction::lower) std::swap(panel.low_side, panel.high_side);
}

/// Whether the differences of two tasks lie on one scale, so that equal ones look equal.
bool same_scale(const analysis::TaskEvidence& one, const analysis::TaskEvidence& other) {
  return one.metric == other.metric && baseline_name(one) == baseline_name(other);
}

bool one_metric(const analysis::Evidence& evidence) {
  return std::ranges::all_of(evidence.tasks, [&](const analysis::TaskEvidence& task) {
    return task.metric == evidence.tasks.front().metric;
  });
}

/// "numbers: 4 digits", with the metric if it is not that of all tasks.
std::string group_place(const analysis::Evidence& evidence, const analysis::TaskEvidence& task,
                        const std::string& test_set) {
  std::string place = evidence.tasks.size() > 1 ? task.name + ": " : "";
  if (test_set.empty()) return place + analysis::display_name(task.metric);
  return place + (one_metric(evidence) ? "" : analysis::display_name(task.metric) + " on ") +
         test_set;
}

std::vector<ForestGroup> forest_groups(const analysis::Evidence& evidence,
                                       const analysis::TaskEvidence& task, const Looks& looks) {
  std::vector<ForestGroup> groups;
  for (const auto& test_set : test_sets(task)) {
    auto group = forest_group(task, test_set, looks);
    if (group.rows.empty()) continue;
    group.title = group_place(evidence, task, group.title);
    groups.push_back(std::move(group));
  }
  std::stable_partition(groups.begin(), groups.end(),
                        [](const ForestGroup& group) { return group.primary; });
  return groups;
}

}  // namespace

Forest forest_of(const analysis::Evidence& evidence) {
  const Looks looks(evidence);
  std::vector<Measured> measured;
  for (const auto& task : evidence.tasks) {
    auto groups = forest_groups(evidence, task, looks);
    if (groups.empty()) continue;
    auto found = std::ranges::find_if(
        measured, [&](const Measured& one) { return same_scale(*one.task, task); });
    if (found == measured.end()) {
      found = measured.insert(found, {&task, {}});
      name_sides(task, found->panel);
    }
    std::ranges::move(groups, std::back_inserter(found->panel.groups));
  }
  keep_few(measured);
  auto title = "Difference from " + evidence.baseline.value_or("the baseline");
  if (!evidence.tasks.empty() && one_metric(evidence))
    title += " in " + analysis::display_name(evidence.tasks.front().metric);
  Forest forest{.title = title};
  for (auto& one : measured) forest.panels.push_back(std::move(one.panel));
  return forest;
}

Markup forest(const analysis::Evidence& evidence) {
  const auto drawn = forest_of(evidence);
  if (drawn.panels.empty()) return {};
  const bool margin = std::ranges::any_of(evidence.tasks, analysis::tests_margins);
  return element(
      "figure", {{"id", "differences"}},
      caption(
          drawn.title + ". ",
          std::string("A dot for each seed, a marker at the mean, a bar for the 95 % interval.") +
              (margin ? " Within the band a difference does not matter." : "")) +
          draw(drawn));
}

}  // namespace ablate::report
