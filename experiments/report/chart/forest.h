#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/report/chart/scale.h"
#include "experiments/report/markup.h"

namespace ablate::report {

/// The difference of one arm from the baseline.
struct ForestRow {
  std::string name, figures;  // what stands on the left and on the right above the row's marks
  Look look;
  double mean = 0;
  std::optional<statistics::Interval> interval;  // absent: none is drawn
  std::optional<double> margin;                  // a difference within it does not matter
  std::vector<double> values;                    // of the seeds; those not finite are left out
};

/// The rows of one test set.
struct ForestGroup {
  std::string title;
  std::vector<ForestRow> rows;
  bool primary = false;  // a test set of claims
};

/// The groups that share an axis.
struct ForestPanel {
  std::string low_side, high_side;  // what a difference below and above zero means; may be empty
  std::vector<ForestGroup> groups;
};

struct Forest {
  std::string title;
  std::vector<ForestPanel> panels;  // each with at least one row
};

/// The plot as one SVG element in the page's style. Its letters stay readable where it is 370
/// pixels wide, if the style sets them larger there.
Markup draw(const Forest& forest);

/// The plot as an SVG file of its own, for paper: light, with no style variable, which converters
/// to PDF do not know.
std::string forest_file(const Forest& forest);

}  // namespace ablate::report
