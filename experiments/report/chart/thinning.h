#pragma once

#include <cstddef>
#include <vector>

namespace ablate::report {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// At most `most` of the points, in their order, with the first, the last and, of every stretch of
/// equally many points, the lowest and the highest: no extreme is lost. Points whose y is not a
/// finite number are left out. REQUIRES: most >= 4.
std::vector<Point> thinned(const std::vector<Point>& points, size_t most);

}  // namespace ablate::report
