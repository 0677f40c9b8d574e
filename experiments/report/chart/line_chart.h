#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/report/chart/scale.h"
#include "experiments/report/markup.h"

namespace ablate::report {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// Reduces the points to at most `most`, in their order: the first, the last and, of every stretch
/// of equally many points, the lowest and the highest, so that no extreme is lost. Points whose y
/// is not a finite number are left out. REQUIRES: most >= 4.
std::vector<Point> thinned(const std::vector<Point>& points, size_t most);

struct Line {
  std::string name;
  Look look;
  std::vector<Point> points;
  std::vector<statistics::Interval> spread;  // around each point; empty: unknown
  std::optional<Point> ringed;               // a point that stands out
};

constexpr size_t kMostPoints = 500;

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  std::optional<double> trained_to;  // x up to here was seen in training: that part is shaded
  bool whiskers = false;             // spread as a bar at each point instead of a band
  bool zero_line = false;            // y = 0 is in the chart and drawn
  std::optional<statistics::Interval> y_range;  // absent: the range of the lines
  size_t most_points = kMostPoints;             // of one line that are drawn; at least 8
  bool logarithmic_x = false;                   // REQUIRES: positive x
  std::vector<double> x_ticks = {};             // empty: at round numbers
  Extent shared_y = {};  // in the range of the lines: that of charts to be drawn to the same scale

  /// The y of the lines and their spread, and what else the range without `y_range` covers.
  Extent y_extent() const;
  /// Whether y is drawn by its logarithm: positive numbers over more than a factor of 30.
  bool logarithmic() const;
};

/// The chart as one SVG element. A point that has a marker shows its values in a tooltip.
Markup draw(const LineChart& chart);

}  // namespace ablate::report
