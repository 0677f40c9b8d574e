#pragma once

#include <cstdint>

namespace ablate::statistics {

/// The share of intervals that hold what they estimate.
inline constexpr double kConfidence = 0.95;

/// What a standard normal variable is within, on either side of 0, with probability kConfidence.
inline constexpr double kNormalQuantile = 1.959963984540054;

/// The same of Student's t. REQUIRES: degrees >= 1.
double t_quantile(int64_t degrees);

}  // namespace ablate::statistics
