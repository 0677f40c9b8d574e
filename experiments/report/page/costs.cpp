#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/analysis/cost.h"
#include "experiments/analysis/figure.h"
#include "experiments/report/chart/scatter.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

/// A dash if no run was trained.
std::string mean_of(const analysis::Sample& sample, const std::string& unit = "") {
  return sample.count > 0 && sample.mean > 0 ? large(sample.mean) + unit : "\u2013";
}

/// A table with the arms' names at the left, which stay when it scrolls.
Markup arms_table(const std::string& name, const Markup& head, const Markup& rows) {
  return scrolled(name, element("table", {{"class", "ablation"}},
                                element("thead", {}, row(head)) + element("tbody", {}, rows)));
}

Markup cost_row(const TaskView& view, const analysis::ArmEvidence& arm) {
  return row(row_heading(view.looks.named(arm.name)) +
             number_cell(typeset(analysis::parameters_figure(arm))) +
             number_cell(arm.flops_per_token > 0 ? large(arm.flops_per_token) : "\u2013") +
             number_cell(mean_of(arm.steps)) + number_cell(mean_of(arm.tokens)) +
             number_cell(mean_of(arm.training_flops)) + number_cell(mean_of(arm.training_seconds)) +
             number_cell(mean_of(arm.tokens_per_second)) +
             number_cell(mean_of(arm.memory_bytes, "B")));
}

Markup cost_table(const TaskView& view) {
  Markup head = column_heading("arm"), rows;
  for (const auto* column : {"parameters", "FLOPs per predicted token", "steps", "target tokens",
                             "FLOPs of training", "seconds", "tokens per second", "memory"})
    head += number_heading(column);
  for (const auto& arm : view.task.arms) rows += cost_row(view, arm);
  return arms_table("Costs of " + view.task.name, head, rows);
}

/// What each arm needs to reach the target, in relation to its baseline.
Markup ratio_table(const TaskView& view) {
  Markup head = column_heading("arm"), rows;
  for (const auto resource : config::kResources) head += number_heading(config::label_of(resource));
  for (const auto& arm : view.task.arms) {
    if (arm.cost_ratios.empty()) continue;
    auto cells = row_heading(view.looks.named(arm.name));
    for (const auto& ratio : arm.cost_ratios)
      cells += number_cell(typeset(analysis::ratio_figure(ratio)));
    rows += row(cells);
  }
  if (rows.empty()) return rows;
  return paragraph("",
                   fmt::format("To reach {}, / what the baseline needs: the geometric mean over "
                               "seeds with its 95 % interval.",
                               view.task.target)) +
         arms_table("Costs to the target of " + view.task.name, head, rows);
}

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
  for (const auto& axis : kAxes) {
    Scatter chart{.x_label = axis.label};
    for (const auto& arm : view.task.arms) {
      const auto* cell = leading_cell(view, arm);
      if (cell == nullptr) continue;
      chart.y_label = analysis::display_name(cell->metric) +
                      (cell->test_set.empty() ? "" : ", " + cell->test_set);
      chart.clouds.push_back(cloud_of(view, arm, axis));
    }
    const bool any = std::ranges::any_of(chart.clouds, [](const Cloud& cloud) {
      return std::isfinite(cloud.mean.x) && std::isfinite(cloud.mean.y);
    });
    chart.title = fmt::format("{} over {}", chart.y_label, chart.x_label);
    if (any) drawn += element("figure", {}, draw(chart));
  }
  return drawn.empty() ? drawn : element("div", {{"class", "figures four"}}, drawn);
}

Markup costs(const TaskView& view) {
  const bool any = std::ranges::any_of(
      view.task.arms, [](const analysis::ArmEvidence& arm) { return arm.parameters > 0; });
  if (!any) return {};
  return folded("Costs", cost_table(view)) + ratio_table(view);
}

}  // namespace ablate::report
