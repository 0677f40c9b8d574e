#pragma once

#include <cstdint>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

/// Student's t is between -this and this with probability `confidence`. REQUIRES: degrees >= 1.
double t_quantile(int64_t degrees, double confidence = kConfidence);

/// The probability that Student's t is at least as far from 0 as `t`, to nine digits at least even
/// if it is tiny. REQUIRES: degrees >= 1.
double t_tail(double t, int64_t degrees);

}  // namespace ablate::statistics
