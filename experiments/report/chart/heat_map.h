#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/report/markup.h"

namespace ablate::report {

enum class Shades {
  diverging,  // blue below zero, red above it
  growing,    // from pale at zero to dark
};

/// A matrix as coloured cells, grey if a number is not finite; row 0 is at the top.
struct HeatMap {
  std::string title, x_label, y_label;
  std::vector<std::vector<double>> rows;
  Shades shades = Shades::diverging;
  std::optional<double> full;      // values from here on have full colour; absent: the largest
  double x_first = 0, x_last = 0;  // values of the first and the last column
  std::vector<std::string> row_titles{};  // tooltips of rows; may be empty
};

/// The map as one SVG element around a PNG picture: one pixel a cell.
Markup draw(const HeatMap& map);

}  // namespace ablate::report
