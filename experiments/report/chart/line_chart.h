#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/interval.h"
#include "experiments/report/chart/palette.h"
#include "experiments/report/chart/thinning.h"
#include "experiments/report/markup.h"

namespace ablate::report {

struct Line {
  std::string name;
  Look look;
  std::vector<Point> points;
  std::vector<statistics::Interval> spread;  // around each point; empty: none is known
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  std::optional<double> trained_to;  // x up to here was seen in training: that part is shaded
  bool whiskers = false;             // spread as a bar at each point instead of a band
  std::optional<statistics::Interval> y_range;  // absent: what the lines need

  /// Whether y is drawn by its logarithm: positive numbers over more than a factor of 30.
  bool logarithmic() const;
};

/// Points of one line that are drawn.
constexpr size_t kMostPoints = 500;

/// The chart as one SVG element. A point that has a marker says its values where a pointer rests.
Markup draw(const LineChart& chart);

/// The same numbers: a row for an x, at most 15 of them, and a column for a line.
Markup table_of(const LineChart& chart);

}  // namespace ablate::report
