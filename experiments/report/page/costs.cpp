#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/analysis/figure.h"
#include "experiments/report/chart/scatter.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

/// The first cell of the metric that the page leads with; null if the arm has none.
const analysis::Cell* leading_cell(const TaskView& view, const analysis::ArmEvidence& arm) {
  const auto found =
      std::ranges::find(arm.cells, leading_metric(view.task), &analysis::Cell::metric);
  return found == arm.cells.end() ? nullptr : &*found;
}

/// The cost on an axis: of each seed, and its mean.
struct Axis {
  const char* label;
  analysis::Sample (*sample)(const analysis::ArmEvidence& arm);
};

/// Every run of an arm has its parameters.
analysis::Sample parameters_of(const analysis::ArmEvidence& arm) {
  const auto parameters =
      arm.parameters > 0 ? static_cast<double>(arm.parameters) : analysis::kUntested;
  return {.values = std::vector<double>(arm.steps.values.size(), parameters), .mean = parameters};
}

const std::array kAxes{
    Axis{"parameters", parameters_of},
    Axis{"FLOPs of training", [](const auto& arm) { return arm.training_flops; }},
    Axis{"seconds of training", [](const auto& arm) { return arm.training_seconds; }},
    Axis{"bytes of memory", [](const auto& arm) { return arm.memory_bytes; }}};

Cloud cloud_of(const TaskView& view, const analysis::ArmEvidence& arm, const Axis& axis) {
  const auto x = axis.sample(arm);
  const auto& y = leading_cell(view, arm)->sample;
  Cloud cloud{.name = arm.name, .look = view.looks.of(arm.name), .mean = {x.mean, y.mean}};
  for (size_t i = 0; i < std::min(x.values.size(), y.values.size()); ++i)
    cloud.points.push_back({x.values[i], y.values[i]});
  return cloud;
}

}  // namespace

Markup cost_pictures(const TaskView& view) {
  Markup drawn;
  std::string measured;  // with its test set, which would be too long for an axis
  for (const auto& axis : kAxes) {
    Scatter chart{.x_label = axis.label};
    for (const auto& arm : view.task.arms) {
      const auto* cell = leading_cell(view, arm);
      if (cell == nullptr) continue;
      chart.y_label = analysis::display_name(cell->metric);
      measured = chart.y_label + (cell->test_set.empty() ? "" : ", " + cell->test_set);
      chart.clouds.push_back(cloud_of(view, arm, axis));
    }
    const bool any = std::ranges::any_of(chart.clouds, [](const Cloud& cloud) {
      return std::isfinite(cloud.mean.x) && std::isfinite(cloud.mean.y);
    });
    chart.title = fmt::format("{} over {}", measured, chart.x_label);
    if (any) drawn += element("figure", {}, draw(chart));
  }
  if (drawn.empty()) return drawn;
  return paragraph("muted", "What each seed costs and reaches: " + measured + ".") +
         element("div", {{"class", "figures four"}}, drawn);
}

Markup costs(const TaskView& view) {
  const bool any = std::ranges::any_of(
      view.task.arms, [](const analysis::ArmEvidence& arm) { return arm.parameters > 0; });
  if (!any) return {};
  auto table = folded("Costs", grid_table(cost_grid(view.task), view.looks));
  const auto ratios = ratio_grid(view.task);
  if (ratios.rows.empty()) return table;
  return table +
         paragraph("",
                   fmt::format("To reach {}, / what the baseline needs: the geometric mean over "
                               "seeds with its 95 % interval.",
                               view.task.target)) +
         grid_table(ratios, view.looks);
}

}  // namespace ablate::report
