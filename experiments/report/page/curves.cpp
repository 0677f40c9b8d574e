#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "experiments/analysis/figure.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

constexpr statistics::Interval kShares{-0.02, 1.02};  // with room for marks at the ends

/// The mean over runs at each x, with the lowest and the highest as spread.
Line mean_line(const std::vector<std::vector<Point>>& runs, std::string name, Look look) {
  std::map<double, std::vector<double>> at_x;
  for (const auto& points : runs)
    for (const auto& point : points)
      if (std::isfinite(point.y)) at_x[point.x].push_back(point.y);
  Line line{.name = std::move(name), .look = look, .points = {}, .spread = {}};
  for (const auto& [x, values] : at_x) {
    double sum = 0;
    for (const double value : values) sum += value;
    line.points.push_back({x, sum / static_cast<double>(values.size())});
    const auto [low, high] = std::ranges::minmax(values);
    line.spread.push_back({low, high});
  }
  if (runs.size() < 2) line.spread.clear();
  return line;
}

/// A line for each arm of the points that `points_of` finds in its runs.
template <class PointsOf>
std::vector<Line> curve_lines(const TaskView& view, PointsOf points_of) {
  std::vector<Line> lines;
  for (const auto& arm : view.task.arms) {
    std::vector<std::vector<Point>> runs;
    for (const auto* run : view.runs_of(arm.name)) runs.push_back(points_of(*run));
    auto line = mean_line(runs, arm.name, view.looks.of(arm.name));
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

std::string scale_words(const LineChart& chart) {
  return chart.logarithmic() ? " The scale is logarithmic." : "";
}

Markup curve(const TaskView& view, const char* what, std::vector<Point> RunRecord::*points) {
  const LineChart chart{
      .title = fmt::format("{} loss", what),
      .x_label = "step",
      .y_label = "nats per target token",
      .lines = curve_lines(view, [&](const RunRecord& run) { return run.*points; })};
  if (chart.lines.empty()) return {};
  return figure(chart, "Mean over seeds; the band reaches from the lowest to the highest." +
                           scale_words(chart));
}

Line length_line(const TaskView& view, const analysis::ArmEvidence& arm,
                 const std::string& metric) {
  Line line{.name = arm.name, .look = view.looks.of(arm.name), .points = {}, .spread = {}};
  for (const auto& cell : arm.cells) {
    if (cell.metric != metric || cell.length == 0 || cell.sample.count == 0) continue;
    line.points.push_back({static_cast<double>(cell.length), cell.sample.mean});
    line.spread.push_back(
        cell.sample.interval.value_or(statistics::Interval{cell.sample.mean, cell.sample.mean}));
  }
  return line;
}

std::optional<double> trained_to(const analysis::TaskEvidence& task) {
  int64_t longest = 0;
  for (const auto& cell : task.arms.front().cells)
    if (!cell.extrapolates) longest = std::max(longest, cell.length);
  return longest > 0 ? std::optional(static_cast<double>(longest)) : std::nullopt;
}

Markup length_curve(const TaskView& view, const std::string& metric) {
  LineChart chart{.title = analysis::display_name(metric) + " over length",
                  .x_label = "length",
                  .y_label = analysis::display_name(metric),
                  .lines = {},
                  .trained_to = trained_to(view.task),
                  .whiskers = true};
  if (const auto* known = config::find_metric(metric); known != nullptr && known->high == 1)
    chart.y_range = kShares;
  for (const auto& arm : view.task.arms) {
    auto line = length_line(view, arm, metric);
    if (line.points.size() > 1) chart.lines.push_back(std::move(line));
  }
  if (chart.lines.empty()) return {};
  for (const auto& cell : view.task.arms.front().cells)
    if (cell.length > 0) chart.x_label = "length in " + cell.unit;
  return figure(chart,
                "Mean over seeds with its 95 % interval. Lengths within training are shaded.");
}

std::vector<Point> points_over_positions(const RunRecord& run, const std::string& test_set) {
  std::vector<Point> points;
  for (const auto& one : run.positions)
    if (one.test_set == test_set)
      for (size_t i = 0; i < one.accuracy.size(); ++i)
        points.push_back({static_cast<double>(i + 1), one.accuracy[i]});
  return points;
}

}  // namespace

Markup curves(const TaskView& view) {
  return curve(view, "Training", &RunRecord::training) +
         curve(view, "Validation", &RunRecord::validation);
}

Markup lengths(const TaskView& view) {
  if (view.task.arms.empty()) return {};
  const auto metric = leading_metric(view.task);
  auto drawn = length_curve(view, metric);
  if (metric != "token_accuracy") drawn += length_curve(view, "token_accuracy");
  return drawn;
}

Markup position_accuracies(const TaskView& view) {
  Markup drawn;
  for (const auto& test_set : test_sets(view.task)) {
    const LineChart chart{
        .title = "Token accuracy at each position: " + test_set,
        .x_label = "target position",
        .y_label = "token accuracy",
        .lines = curve_lines(
            view, [&](const RunRecord& run) { return points_over_positions(run, test_set); }),
        .y_range = kShares};
    const bool several =
        std::ranges::any_of(chart.lines, [](const Line& line) { return line.points.size() > 1; });
    if (several)
      drawn += figure(chart, "Mean over seeds; the band reaches from the lowest to the highest.");
  }
  return drawn;
}

namespace {

constexpr int kPointsOfLaw = 40;

/// The line of the arms from the smallest to the largest.
Line measured_sizes(const TaskView& view, const analysis::SizeFit& fit) {
  auto arms = view.task.arms;
  std::ranges::stable_sort(arms, {}, &analysis::ArmEvidence::parameters);
  Line line{.name = "arms", .look = {.arm = 0}, .points = {}, .spread = {}};
  for (const auto& arm : arms) {
    const auto& sample = analysis::find_cell(arm, fit.test_set, fit.metric)->sample;
    line.points.push_back({std::log10(static_cast<double>(arm.parameters)), sample.mean});
    line.spread.push_back(sample.interval.value_or(statistics::Interval{sample.mean, sample.mean}));
  }
  return line;
}

Line law_line(const analysis::SizeFit& fit, double from, double to) {
  Line line{.name = "law", .look = {.arm = 1}, .points = {}, .spread = {}};
  for (int i = 0; i <= kPointsOfLaw; ++i) {
    const double x = from + (to - from) * i / kPointsOfLaw;
    line.points.push_back({x, fit.law.at(std::pow(10, x))});
  }
  return line;
}

Markup size_fit(const TaskView& view, const analysis::SizeFit& fit) {
  const auto arms = measured_sizes(view, fit);
  const auto law = law_line(fit, arms.points.front().x, arms.points.back().x);
  const auto metric = analysis::display_name(fit.metric);
  const LineChart chart{.title = metric + " over size",
                        .x_label = "parameters, as a power of ten",
                        .y_label = metric,
                        .lines = {arms, law},
                        .whiskers = true};
  return figure(chart, fmt::format("Means of the arms with their 95 % intervals, and {} times "
                                   "parameters to the power of {}.",
                                   plain(fit.law.factor), plain(fit.law.exponent)));
}

}  // namespace

Markup size_fits(const TaskView& view) {
  Markup drawn;
  for (const auto& fit : view.task.fits) drawn += size_fit(view, fit);
  return drawn;
}

}  // namespace ablate::report
