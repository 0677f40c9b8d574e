#pragma once

#include <cstdint>

#include "experiments/analysis/statistics/interval.h"

namespace ablate::statistics {

/// Wilson's 95 % score interval of a share (Wilson 1927). REQUIRES: 0 <= hits <= count, count > 0.
Interval wilson_interval(int64_t hits, int64_t count);

}  // namespace ablate::statistics
