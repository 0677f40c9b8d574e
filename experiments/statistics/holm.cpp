#include "experiments/statistics/holm.h"

#include <algorithm>
#include <numeric>

namespace ablate::statistics {

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double before = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    before = std::max(before, std::min(1.0, static_cast<double>(p.size() - rank) * p[order[rank]]));
    adjusted[order[rank]] = before;
  }
  return adjusted;
}

}  // namespace ablate::statistics
