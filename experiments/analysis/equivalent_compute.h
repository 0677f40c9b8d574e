#pragma once

#include <span>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The training FLOPs and the values of one arm at one size, by seed.
struct Trained {
  const Sample* flops;
  const Sample* values;
};

/// At each size, the training FLOPs of the arm / those with which the baseline would reach the same
/// value, by the power law of its values over its FLOPs (Kaplan et al. 2020, section 3): a law and
/// a ratio for each seed. A seed has none (NaN) without a law, whose values must be positive and
/// fall, or if the law would be read more than ten times beyond the baseline's runs. Empty if
/// there is no size at which all seeds have one. REQUIRES: the same sizes and seeds.
std::vector<CostRatio> compute_ratios(std::span<const Trained> arm,
                                      std::span<const Trained> baseline);

/// At one size, the seconds of training of the arm / the baseline's, by seed; NaN where one of them
/// was not measured. REQUIRES: the same seeds.
CostRatio time_ratio(const Sample& arm, const Sample& baseline);

}  // namespace ablate::analysis
