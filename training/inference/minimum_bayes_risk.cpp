#include "training/inference/minimum_bayes_risk.h"

#include <algorithm>

#include "training/metrics/chrf.h"

namespace ablate::training {

size_t least_risk(std::span<const Translation> candidates) {
  std::vector<double> gains(candidates.size(), 0);
  for (size_t i = 0; i < candidates.size(); ++i)
    for (const auto& other : candidates)
      gains[i] += chrf(chrf_statistics(candidates[i].text, other.text)).score;
  return static_cast<size_t>(std::ranges::max_element(gains) - gains.begin());
}

}  // namespace ablate::training
