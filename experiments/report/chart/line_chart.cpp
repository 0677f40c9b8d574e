#include "experiments/report/chart/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/chart/axes.h"
#include "experiments/report/chart/scale.h"
#include "experiments/report/markup.h"

namespace ablate::report {

std::vector<Point> thinned(const std::vector<Point>& points, size_t most) {
  std::vector<Point> finite;
  std::ranges::copy_if(points, std::back_inserter(finite),
                       [](const Point& point) { return std::isfinite(point.y); });
  if (finite.size() <= most) return finite;
  std::vector<Point> kept{finite.front()};
  const size_t stretches = (most - 2) / 2, inner = finite.size() - 2;
  for (size_t i = 0; i < stretches; ++i) {
    const auto first = finite.begin() + 1 + static_cast<ptrdiff_t>(i * inner / stretches);
    const auto last = finite.begin() + 1 + static_cast<ptrdiff_t>((i + 1) * inner / stretches);
    auto [low, high] = std::ranges::minmax_element(first, last, {}, &Point::y);
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  kept.push_back(finite.back());
  return kept;
}

namespace {

constexpr double kChartWidth = 480, kChartHeight = 300, kChartTop = 20, kChartBottom = 46;
constexpr double kLetter = 6.6, kLineHeight = 14;
constexpr size_t kLongestLabel = 20, kMostLabels = 18, kMostMarkers = 13;

/// The chart with few enough points, and their coordinates.
struct Layout {
  const LineChart& chart;
  std::vector<std::vector<Point>> lines;  // thinned
  bool labelled;
  double left, right;
  Scale x, y;
};

double label_width(const LineChart& chart) {
  size_t longest = 0;
  for (const auto& line : chart.lines) longest = std::max(longest, line.name.size());
  return 20 + kLetter * static_cast<double>(std::min(longest, kLongestLabel));
}

Scale y_scale(const LineChart& chart) {
  if (chart.y_range) return {chart.y_range->low, chart.y_range->high};
  const auto extent = chart.y_extent();
  if (chart.logarithmic()) return {extent.low() / 1.15, extent.high() * 1.15, true};
  return extent.padded(0.05);
}

Scale x_scale(const LineChart& chart, const Extent& extent) {
  constexpr double kRoom = 1.06;
  if (chart.logarithmic_x && extent.any())
    return {extent.low() / kRoom, extent.high() * kRoom, true};
  return extent.padded(0.02);
}

Layout lay_out(const LineChart& chart) {
  Extent x;
  std::vector<std::vector<Point>> lines;
  for (const auto& line : chart.lines) {
    for (const auto& point : line.points) x.take(point.x);
    if (chart.trained_to && x.any() && x.low() >= *chart.trained_to)
      x.take(x.low() - 0.15 * (x.high() - x.low()));  // room for the label of the trained lengths
    lines.push_back(thinned(line.points, chart.most_points));
  }
  const bool labelled = chart.lines.size() <= kMostLabels;
  const double right = labelled ? kChartWidth - label_width(chart) : kChartWidth - 12;
  const auto y = y_scale(chart);
  Layout layout{chart, std::move(lines), labelled, left_beside(y), right, x_scale(chart, x), y};
  layout.x.over(layout.left, right);
  layout.y.over(kChartHeight - kChartBottom, kChartTop);
  return layout;
}

/// Whether every x is a whole number.
bool whole_numbers(const LineChart& chart) {
  return std::ranges::all_of(chart.lines, [](const Line& line) {
    return std::ranges::all_of(line.points, [](const Point& p) { return p.x == std::round(p.x); });
  });
}

Markup axes_of(const Layout& layout) {
  return axes({.left = layout.left,
               .right = layout.right,
               .top = kChartTop,
               .bottom = kChartHeight - kChartBottom,
               .x = layout.x,
               .y = layout.y,
               .x_label = layout.chart.x_label,
               .y_label = layout.chart.y_label,
               .whole = whole_numbers(layout.chart),
               .at_x = layout.chart.x_ticks});
}

Markup trained_region(const Layout& layout) {
  const double edge = layout.x.place(*layout.chart.trained_to);
  return element("rect", {{"class", "trained"},
                          {"x", at(layout.left)},
                          {"y", at(kChartTop)},
                          {"width", at(edge - layout.left)},
                          {"height", at(kChartHeight - kChartBottom - kChartTop)}}) +
         rule("edge", edge, kChartTop, edge, kChartHeight - kChartBottom) +
         words(edge, kChartTop - 6, "note middle", "trained \u2190 | \u2192 beyond");
}

double clamped(const Scale& scale, double number) {
  return scale.place(std::clamp(number, scale.low(), scale.high()));
}

/// "M1 2L3 4": a line through the points.
std::string line_through(const Layout& layout, const std::vector<Point>& points) {
  std::string d;
  for (const auto& [x, y] : points)
    d +=
        fmt::format("{}{} {}", d.empty() ? "M" : "L", at(layout.x.place(x)), at(layout.y.place(y)));
  return d;
}

/// A band through the intervals at the points that are drawn.
Markup band(const Layout& layout, const Line& line) {
  std::vector<Point> low, high;
  for (size_t i = 0; i < line.points.size(); ++i) {
    low.push_back({line.points[i].x, line.spread[i].low});
    high.push_back({line.points[i].x, line.spread[i].high});
  }
  auto outline = thinned(high, layout.chart.most_points / 2);
  const auto back = thinned(low, layout.chart.most_points / 2);
  outline.insert(outline.end(), back.rbegin(), back.rend());
  for (auto& point : outline) point.y = std::clamp(point.y, layout.y.low(), layout.y.high());
  return path("band", line_through(layout, outline) + "Z");
}

Markup whiskers(const Layout& layout, const Line& line) {
  std::string d;
  for (size_t i = 0; i < line.points.size(); ++i)
    if (std::isfinite(line.spread[i].low) && std::isfinite(line.spread[i].high))
      d += fmt::format("M{} {}V{}", at(layout.x.place(line.points[i].x)),
                       at(clamped(layout.y, line.spread[i].low)),
                       at(clamped(layout.y, line.spread[i].high)));
  return path("whisker", d);
}

Markup draw_line(const Layout& layout, size_t number) {
  const auto& line = layout.chart.lines[number];
  const auto& points = layout.lines[number];
  Markup drawn;
  if (!line.spread.empty())
    drawn += layout.chart.whiskers ? whiskers(layout, line) : band(layout, line);
  drawn += element("path", {{"class", "line"},
                            {"stroke-dasharray", line.look.dashes()},
                            {"d", line_through(layout, points)}});
  const size_t stride = std::max<size_t>(1, (points.size() + kMostMarkers - 1) / kMostMarkers);
  for (size_t i = points.size(); i > 0; i -= std::min(i, stride)) {
    const auto& point = points[i - 1];
    drawn += marker(line.look, layout.x.place(point.x), layout.y.place(point.y),
                    fmt::format("{}: {} at {} {}", shown(line.name, 60), plain(point.y),
                                layout.chart.x_label, plain(point.x)));
  }
  if (line.ringed)
    drawn += element("circle", {{"class", "ring"},
                                {"cx", at(layout.x.place(line.ringed->x))},
                                {"cy", at(layout.y.place(line.ringed->y))},
                                {"r", "8"}});
  return element("g", {{"class", line.look.colour_class()}}, drawn);
}

/// Names beside the lines' ends, moved apart if they would touch.
Markup labels(const Layout& layout) {
  struct Label {
    double y;
    const Line* line;
  };
  std::vector<Label> labels;
  for (size_t i = 0; i < layout.lines.size(); ++i)
    if (!layout.lines[i].empty())
      labels.push_back({layout.y.place(layout.lines[i].back().y), &layout.chart.lines[i]});
  std::ranges::stable_sort(labels, {}, &Label::y);
  double free = kChartTop + 4;
  for (auto& label : labels) free = (label.y = std::max(label.y, free)) + kLineHeight;
  double lowest = kChartHeight - kChartBottom + 2;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label)
    lowest = (label->y = std::min(label->y, lowest)) - kLineHeight;
  Markup result;
  for (const auto& [y, line] : labels)
    result +=
        element("g", {{"class", line->look.colour_class()}},
                marker(line->look, layout.right + 9, y) +
                    words(layout.right + 17, y + 4, "name", shown(line->name, kLongestLabel)));
  return result;
}

}  // namespace

Extent LineChart::y_extent() const {
  Extent extent = shared_y;
  if (zero_line) extent.take(0);
  for (const auto& line : lines) {
    for (const auto& point : line.points) extent.take(point.y);
    for (const auto& spread : line.spread) extent.take(spread);
  }
  return extent;
}

bool LineChart::logarithmic() const {
  const auto extent = y_extent();
  return !y_range && extent.any() && extent.low() > 0 && extent.high() > 30 * extent.low();
}

Markup draw(const LineChart& chart) {
  const auto layout = lay_out(chart);
  Markup picture;
  if (chart.trained_to) picture += trained_region(layout);
  picture += axes_of(layout);
  if (chart.zero_line)
    picture += rule("axis", layout.left, layout.y.place(0), layout.right, layout.y.place(0));
  for (size_t i = chart.lines.size(); i > 0; --i) picture += draw_line(layout, i - 1);
  if (layout.labelled) picture += labels(layout);
  return svg("chart", {kChartWidth, kChartHeight},
             chart.title + "; the same numbers follow as a table", picture);
}

}  // namespace ablate::report
