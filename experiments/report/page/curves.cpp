#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "experiments/analysis/figure.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

constexpr statistics::Interval kShares{-0.02, 1.02};  // with room for marks at the ends

/// A point of a run's curve; those of several runs with the same `place` belong together.
struct Reading {
  double place = 0;
  Point point;
};
using Readings = std::vector<Reading>;

/// The mean over runs at each place, with the lowest and the highest as spread.
Line mean_line(const std::vector<Readings>& runs, std::string name, Look look) {
  std::map<double, std::pair<std::vector<double>, std::vector<double>>> at_place;
  for (const auto& readings : runs)
    for (const auto& [place, point] : readings)
      if (std::isfinite(point.y)) {
        at_place[place].first.push_back(point.x);
        at_place[place].second.push_back(point.y);
      }
  Line line{.name = std::move(name), .look = look};
  for (const auto& [place, values] : at_place) {
    const auto& [x, y] = values;
    line.points.push_back({statistics::mean(x), statistics::mean(y)});
    const auto [low, high] = std::ranges::minmax(y);
    line.spread.push_back({low, high});
  }
  if (runs.size() < 2) line.spread.clear();
  return line;
}

/// A line for each arm of the readings that `readings_of` finds in its runs.
template <class ReadingsOf>
std::vector<Line> curve_lines(const TaskView& view, ReadingsOf readings_of) {
  std::vector<Line> lines;
  for (const auto& arm : view.task.arms) {
    std::vector<Readings> runs;
    for (const auto* run : view.runs_of(arm.name)) runs.push_back(readings_of(*run));
    auto line = mean_line(runs, arm.name, view.looks.of(arm.name));
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

/// What the lines and bands of a chart are; empty without bands.
std::string explanation_of(const LineChart& chart) {
  const bool bands =
      std::ranges::any_of(chart.lines, [](const Line& line) { return !line.spread.empty(); });
  return bands ? "Mean over seeds; the band reaches from the lowest to the highest." : "";
}

std::string axis_of(config::Resource resource) {
  if (resource == config::Resource::steps) return "step";
  return resource == config::Resource::tokens ? "target tokens"
                                              : config::label_of(resource) + " of training";
}

/// A loss of runs and its name.
struct Loss {
  const char* name;
  std::vector<LossPoint> RunRecord::*points;
};

constexpr std::array kLosses{Loss{"Training loss", &RunRecord::training},
                             Loss{"Validation loss", &RunRecord::validation}};

Markup curve(const TaskView& view, const Loss& loss, config::Resource resource, size_t most) {
  const LineChart chart{
      .title = loss.name,
      .x_label = axis_of(resource),
      .y_label = "nats per target token",
      .lines = curve_lines(view,
                           [&](const RunRecord& run) {
                             Readings readings;
                             for (const auto& [spent, value] : run.*loss.points)
                               readings.push_back({records::of(spent, config::Resource::steps),
                                                   {records::of(spent, resource), value}});
                             return readings;
                           }),
      .most_points = most};
  return figure(chart, explanation_of(chart));
}

Line length_line(const TaskView& view, const analysis::ArmEvidence& arm,
                 const std::string& metric) {
  Line line{.name = arm.name, .look = view.looks.of(arm.name)};
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
                  .trained_to = trained_to(view.task),
                  .whiskers = true};
  if (const auto* known = config::find_metric(metric); known != nullptr && known->high == 1)
    chart.y_range = kShares;
  for (const auto& arm : view.task.arms) {
    auto line = length_line(view, arm, metric);
    if (line.points.size() > 1) chart.lines.push_back(std::move(line));
  }
  for (const auto& cell : view.task.arms.front().cells)
    if (cell.length > 0) chart.x_label = "length in " + cell.unit;
  return figure(chart,
                (view.evidence.seeds.size() > 1 ? "Mean over seeds with its 95 % interval. " : "") +
                    std::string("Lengths within training are shaded."));
}

Readings over_positions(const RunRecord& run, const std::string& test_set) {
  Readings readings;
  for (const auto& one : run.positions)
    if (one.test_set == test_set)
      for (size_t i = 0; i < one.accuracy.size(); ++i) {
        const auto position = static_cast<double>(i + 1);
        readings.push_back({position, {position, one.accuracy[i]}});
      }
  return readings;
}

/// Points of a line in the folded charts, which repeat what is shown over steps.
constexpr size_t kMostFoldedPoints = 120;

}  // namespace

Markup curves(const TaskView& view) {
  Markup drawn, more;
  for (const auto& loss : kLosses) drawn += curve(view, loss, config::Resource::steps, kMostPoints);
  if (drawn.empty()) return drawn;
  for (const auto resource : config::kResources)
    if (resource != config::Resource::steps)
      for (const auto& loss : kLosses) more += curve(view, loss, resource, kMostFoldedPoints);
  return figures(drawn) + folded("Losses over tokens, FLOPs and seconds", figures(more));
}

Markup lengths(const TaskView& view) {
  if (view.task.arms.empty()) return {};
  const auto metric = leading_metric(view.task);
  auto drawn = length_curve(view, metric);
  if (metric != "token_accuracy") drawn += length_curve(view, "token_accuracy");
  return figures(drawn);
}

Markup position_accuracies(const TaskView& view) {
  Markup drawn;
  for (const auto& test_set : test_sets(view.task)) {
    const LineChart chart{
        .title = "Token accuracy at each position: " + test_set,
        .x_label = "target position",
        .y_label = "token accuracy",
        .lines =
            curve_lines(view, [&](const RunRecord& run) { return over_positions(run, test_set); }),
        .y_range = kShares};
    const bool several =
        std::ranges::any_of(chart.lines, [](const Line& line) { return line.points.size() > 1; });
    if (several) drawn += figure(chart, explanation_of(chart));
  }
  return folded("Token accuracy at each position", figures(drawn));
}

namespace {

constexpr int kPointsOfLaw = 40;

/// The line of the arms that the law is of, from the smallest to the largest.
Line measured_sizes(const TaskView& view, const analysis::SizeFit& fit) {
  auto arms = view.task.arms;
  std::erase_if(arms, [](const analysis::ArmEvidence& arm) { return arm.control; });
  std::ranges::stable_sort(arms, {}, &analysis::ArmEvidence::parameters);
  Line line{.name = "arms", .look = {.arm = 0}};
  for (const auto& arm : arms) {
    const auto& sample = analysis::find_cell(arm, fit.test_set, fit.metric)->sample;
    line.points.push_back({std::log10(static_cast<double>(arm.parameters)), sample.mean});
    line.spread.push_back(sample.interval.value_or(statistics::Interval{sample.mean, sample.mean}));
  }
  return line;
}

Line law_line(const analysis::SizeFit& fit, double from, double to) {
  Line line{.name = "law", .look = {.arm = 1}};
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
  return figures(drawn);
}

}  // namespace ablate::report
