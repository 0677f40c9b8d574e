#include "experiments/report/page/score_group.h"

#include <fmt/format.h>

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
    group.beyond = found->beyond;
    take(group.values, value_strip(view, row));
    if (found->contrast) take(group.differences, difference_strip(view, row));
    group.contrasted = group.contrasted || found->contrast;
    group.counted = group.counted || found->success;
  }
  return group;
}

}  // namespace ablate::report
