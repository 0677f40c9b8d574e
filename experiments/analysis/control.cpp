#include "experiments/analysis/control.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/statistics/estimates.h"

namespace ablate::analysis {
namespace {

/// The contrast of an arm on the test set of a cell, by its metric; null without a contrast.
const Contrast* contrast_on(const ArmEvidence& arm, const Cell& like) {
  const auto cell = std::ranges::find_if(arm.cells, [&](const Cell& one) {
    return one.metric == like.metric && one.test_set == like.test_set;
  });
  return cell == arm.cells.end() || !cell->contrast ? nullptr : &*cell->contrast;
}

/// Calls `each` with the task and every primary cell of its control that has a contrast.
template <class Each>
void for_controls(const Evidence& evidence, const Each& each) {
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      if (arm.control)
        for (const auto& cell : arm.cells)
          if (cell.primary && cell.contrast && cell.contrast->differences.size() > 1)
            each(task, cell);
}

std::string name_of_cell(const TaskEvidence& task, const Cell& cell) {
  return cell.test_set.empty() ? task.name : fmt::format("{} ({})", task.name, cell.test_set);
}

/// "gelu 2.3, silu 0.4"
std::string multiples(const TaskEvidence& task, const Cell& cell, double floor) {
  std::vector<std::string> all;
  for (const auto& arm : task.arms)
    if (const auto* contrast = contrast_on(arm, cell);
        contrast && is_tested(contrast->verdict) && !arm.control)
      all.push_back(fmt::format("{} {:.1f}", arm.name, std::abs(contrast->mean) / floor));
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

bool is_control(const Evidence& evidence, const std::string& arm) {
  return std::ranges::any_of(evidence.tasks, [&](const TaskEvidence& task) {
    return std::ranges::any_of(
        task.arms, [&](const ArmEvidence& one) { return one.control && one.name == arm; });
  });
}

std::vector<std::string> control_notes(const Evidence& evidence) {
  std::vector<std::string> notes;
  for_controls(evidence, [&](const TaskEvidence& task, const Cell& cell) {
    const auto& contrast = *cell.contrast;
    const double floor = statistics::deviation(contrast.differences);
    auto note = fmt::format(
        "{}: the control, which is the baseline with other random numbers, differs by {} in {}, "
        "and the deviation of its differences, the floor, is {}.",
        name_of_cell(task, cell), format_metric(contrast.mean, cell.metric),
        display_name(cell.metric), format_metric(floor, cell.metric));
    if (const auto others = multiples(task, cell, floor); floor > 0 && !others.empty())
      note += " Mean differences in floors: " + others + ".";
    notes.push_back(std::move(note));
  });
  return notes;
}

std::string control_warning(const Evidence& evidence) {
  std::vector<std::string> places;
  for_controls(evidence, [&](const TaskEvidence& task, const Cell& cell) {
    const auto verdict = cell.contrast->verdict;
    if (verdict == Verdict::better || verdict == Verdict::worse)
      places.push_back(name_of_cell(task, cell));
  });
  if (places.empty()) return {};
  return fmt::format(
      "Warning: the control, which is the baseline with other random numbers, is shown to differ "
      "from the baseline on {}. What else is shown here may be as little of an effect.\n",
      fmt::join(places, ", "));
}

}  // namespace ablate::analysis
