#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "experiments/analysis/figure.h"
#include "experiments/report/page/sections.h"

namespace ablate::report {
namespace {

constexpr statistics::Interval kShares{-0.02, 1.02};  // with room for marks at the ends

/// The mean over runs where x is the same, with the lowest and the highest as spread.
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

/// The number in a test set's name: 12 of "length 12".
std::optional<double> length_of(const std::string& test_set) {
  const auto first =
      std::ranges::find_if(test_set, [](unsigned char c) { return std::isdigit(c); });
  if (first == test_set.end()) return {};
  double length = 0;
  for (auto digit = first;
       digit != test_set.end() && std::isdigit(static_cast<unsigned char>(*digit)); ++digit)
    length = 10 * length + (*digit - '0');
  return length < 1e9 ? std::optional(length) : std::nullopt;
}

/// "length" of "length 12", "digits" of "4 digits".
std::string unit_of(std::string test_set) {
  std::erase_if(test_set, [](unsigned char c) { return std::isdigit(c); });
  const auto first = test_set.find_first_not_of(' ');
  if (first == std::string::npos) return "length";
  return test_set.substr(first, test_set.find_last_not_of(' ') - first + 1);
}

Line length_line(const TaskView& view, const analysis::ArmEvidence& arm,
                 const std::string& metric) {
  Line line{.name = arm.name, .look = view.looks.of(arm.name), .points = {}, .spread = {}};
  for (const auto& cell : arm.cells) {
    const auto length = length_of(cell.test_set);
    if (cell.metric != metric || !length || cell.sample.count == 0) continue;
    line.points.push_back({*length, cell.sample.mean});
    line.spread.push_back(
        cell.sample.interval.value_or(statistics::Interval{cell.sample.mean, cell.sample.mean}));
  }
  return line;
}

std::optional<double> trained_to(const analysis::TaskEvidence& task) {
  std::optional<double> longest;
  for (const auto& cell : task.arms.front().cells)
    if (const auto length = length_of(cell.test_set); length && !cell.beyond)
      longest = std::max(longest.value_or(*length), *length);
  return longest;
}

Markup length_curve(const TaskView& view, const std::string& metric) {
  LineChart chart{.title = analysis::spoken(metric) + " over length",
                  .x_label = "length",
                  .y_label = analysis::spoken(metric),
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
  for (const auto& test_set : test_sets(view.task))
    if (length_of(test_set)) chart.x_label = unit_of(test_set);
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

}  // namespace ablate::report
