#include "experiments/analysis/control.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/statistics/estimates.h"

namespace ablate::analysis {
namespace {

/// Every primary comparison of a control over two seeds or more.
std::vector<Compared> controls_of(const Evidence& evidence) {
  auto all = compared_in(evidence.tasks);
  std::vector<Compared> controls;
  std::ranges::copy_if(all, std::back_inserter(controls), [](const Compared& one) {
    return one.arm.control && one.cell.primary && one.contrast().differences.size() > 1;
  });
  return controls;
}

std::string name_of(const Compared& one) {
  const auto& test_set = one.cell.test_set;
  return test_set.empty() ? one.task.name : fmt::format("{} ({})", one.task.name, test_set);
}

/// "gelu 2.3, silu 0.4"
std::string multiples(const Compared& control, double floor) {
  std::vector<std::string> all;
  for (const auto& one : compared_in({&control.task, 1}))
    if (one.cell.metric == control.cell.metric && one.cell.test_set == control.cell.test_set &&
        is_tested(one.contrast().verdict) && !one.arm.control)
      all.push_back(fmt::format("{} {:.1f}", one.arm.name, std::abs(one.contrast().mean) / floor));
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
  for (const auto& control : controls_of(evidence)) {
    const auto& metric = control.cell.metric;
    const double floor = statistics::deviation(control.contrast().differences);
    auto note = fmt::format(
        "{}: the control, which is the baseline with other random numbers, differs by {} in {}, "
        "and the deviation of its differences, the floor, is {}.",
        name_of(control),
        value_beside(control.contrast().mean, control.contrast().interval, metric),
        display_name(metric), positive_figure(floor, metric));
    if (const auto others = multiples(control, floor); floor > 0 && !others.empty())
      note += " Mean differences in floors: " + others + ".";
    notes.push_back(std::move(note));
  }
  return notes;
}

std::string control_warning(const Evidence& evidence) {
  std::vector<std::string> places;
  for (const auto& control : controls_of(evidence))
    if (const auto verdict = control.contrast().verdict;
        verdict == Verdict::better || verdict == Verdict::worse)
      places.push_back(name_of(control));
  if (places.empty()) return {};
  return fmt::format(
      "Warning: the control, which is the baseline with other random numbers, is shown to differ "
      "from the baseline on {}. What else is shown here may be as little of an effect.\n",
      fmt::join(places, ", "));
}

}  // namespace ablate::analysis
