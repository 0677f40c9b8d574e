#pragma once

#include <string>

#include "experiments/report/chart/scale.h"
#include "experiments/report/markup.h"

namespace ablate::report {

/// The area of a chart between its axes, and what they measure.
struct Frame {
  double left = 0, right = 0, top = 0, bottom = 0;
  Scale x, y;  // over this area
  std::string x_label, y_label;
  bool whole = false;  // only whole numbers have ticks on x
  int ticks = 6;       // about as many on x
};

/// A straight line with the class `kind`.
Markup rule(const char* kind, double from_x, double from_y, double to_x, double to_y);

/// Axes with ticks and labels, and the lines behind the marks.
Markup axes(const Frame& frame);

}  // namespace ablate::report
