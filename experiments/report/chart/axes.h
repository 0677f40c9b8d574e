#pragma once

#include <string>
#include <vector>

#include "experiments/report/chart/scale.h"
#include "experiments/report/markup.h"

namespace ablate::report {

/// The area of a chart between its axes, and what they measure.
struct Frame {
  double left = 0, right = 0, top = 0, bottom = 0;
  Scale x, y;  // over this area
  std::string x_label, y_label;
  bool whole = false;             // only whole numbers have ticks on x
  int ticks = 6;                  // about as many on x
  std::vector<double> at_x = {};  // the ticks on x; empty: at round numbers
};

/// Where an area begins that has this scale's ticks and its label on its left.
double left_beside(const Scale& y);

/// A straight line with the class `kind`.
Markup rule(const char* kind, double from_x, double from_y, double to_x, double to_y);

/// Axes with ticks and labels, which say that an axis is logarithmic, and the lines behind the
/// marks. Of ticks whose numbers would touch, only the first has one.
Markup axes(const Frame& frame);

}  // namespace ablate::report
