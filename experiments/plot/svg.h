#pragma once

#include <string>
#include <vector>

namespace ablate::experiments {

/// A matrix as coloured cells: blue below zero, red above, grey where a number is not finite. Row 0
/// is at the top.
struct HeatMap {
  std::string title, x_label, y_label;
  std::vector<std::vector<double>> rows;
};

/// Numbers over 0, 1, 2, ...
struct Line {
  std::string name;
  std::vector<double> numbers;
};
struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
};

/// A picture as one SVG element, with its title and its range of values.
std::string svg(const HeatMap& map);
std::string svg(const LineChart& chart);

/// Text that stands for itself in HTML and SVG.
std::string escaped(const std::string& text);

}  // namespace ablate::experiments
