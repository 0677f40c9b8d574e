#pragma once

#include <string>
#include <vector>

#include "experiments/report/chart/line_chart.h"
#include "experiments/report/chart/scale.h"
#include "experiments/report/markup.h"

namespace ablate::report {

/// Points of one arm with their mean.
struct Cloud {
  std::string name;
  Look look;
  std::vector<Point> points;  // those that are not finite are left out
  Point mean;                 // left out if it is not finite
};

/// A small chart of what arms reached over what they cost.
struct Scatter {
  std::string title, x_label, y_label;
  std::vector<Cloud> clouds;
};

/// The chart as one SVG element: a dot for a point, a marker with a tooltip for a mean. An axis is
/// logarithmic if its numbers are positive and differ by more than a factor of 5 (x) or 30 (y).
Markup draw(const Scatter& chart);

}  // namespace ablate::report
