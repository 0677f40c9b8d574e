#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/report/chart/scale.h"
#include "experiments/report/markup.h"

namespace ablate::report {

/// A number for each seed with their mean, drawn on one line of a table.
struct Strip {
  Look look;
  std::vector<double> values;      // those that are not finite are left out
  std::vector<std::string> names;  // of the values: "seed 1"
  double mean = 0;
  std::optional<statistics::Interval> interval;
  std::string metric;  // how values are written
  bool zero = false;   // a line at zero
};

/// All that the strip shows.
void take(Extent& extent, const Strip& strip);

/// `extent` covers every strip of the column, so that they can be compared by eye.
Markup draw(const Strip& strip, const Extent& extent);

/// The ends of the column's axis.
Markup strip_axis(const Extent& extent, const std::string& metric);

}  // namespace ablate::report
