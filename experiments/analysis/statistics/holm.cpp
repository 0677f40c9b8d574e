#include "experiments/analysis/statistics/holm.h"

#include <algorithm>
#include <numeric>

namespace ablate::statistics {

std::vector<double> holm(std::span<const double> p, size_t most_true) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double before = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const auto factor = static_cast<double>(std::min(most_true, p.size() - rank));
    before = std::max(before, std::min(1.0, factor * p[order[rank]]));
    adjusted[order[rank]] = before;
  }
  return adjusted;
}

}  // namespace ablate::statistics
