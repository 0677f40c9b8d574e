#include "experiments/report/chart/thinning.h"

#include <algorithm>
#include <cmath>

namespace ablate::report {

std::vector<Point> thinned(const std::vector<Point>& points, size_t most) {
  std::vector<Point> finite;
  std::ranges::copy_if(points, std::back_inserter(finite),
                       [](const Point& point) { return std::isfinite(point.y); });
  if (finite.size() <= most) return finite;
  std::vector<Point> kept{finite.front()};
  const size_t stretches = (most - 2) / 2, inner = finite.size() - 2;
  for (size_t i = 0; i < stretches; ++i) {
    const auto first = finite.begin() + 1 + static_cast<ptrdiff_t>(i * inner / stretches);
    const auto last = finite.begin() + 1 + static_cast<ptrdiff_t>((i + 1) * inner / stretches);
    auto [low, high] = std::ranges::minmax_element(first, last, {}, &Point::y);
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  kept.push_back(finite.back());
  return kept;
}

}  // namespace ablate::report
