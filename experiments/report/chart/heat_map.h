#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/report/chart/scale.h"
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

/// A picture of palette colours; row 0 is at the top.
struct Image {
  size_t width = 0, height = 0;
  std::vector<std::array<uint8_t, 3>> palette;  // red, green, blue; at most 256
  std::vector<uint8_t> pixels;                  // width x height numbers of colours, row by row
};

/// The image as a PNG file (ISO/IEC 15948). REQUIRES: width and height are at least 1.
std::string png(const Image& image);

std::string base64(std::string_view bytes);

}  // namespace ablate::report
