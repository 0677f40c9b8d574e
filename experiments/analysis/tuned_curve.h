#pragma once

#include <limits>
#include <vector>

#include "options/enumeration.h"

namespace ablate::analysis {

/// The place at which the pooled curve is best: `within` the values; `open` at an end that is also
/// the best tried value, so that a better one may lie beyond it; `flat` at an end that is not.
ABLATE_ENUM(Vertex, within, open, flat);

/// The curve over the logarithm of the tuned key of one arm (`tune.by: curve`), a parabola through
/// three values and a cubic through more. It is fitted to the means, over the seeds with all runs,
/// of the validation loss in nats or of the token accuracy, at all values of which no run diverged.
struct TunedCurve {
  /// Of each of ArmSearch::tried, 0 of one that is left out: a weighted sum of the values of a seed
  /// is the value of its own curve at `value`. Empty without a curve.
  std::vector<double> weights;
  Vertex vertex = Vertex::within;
  /// Of the tuned key, where the arm is compared: the vertex, or the best tried value if it is
  /// open or flat.
  double value = std::numeric_limits<double>::quiet_NaN();
  double score = std::numeric_limits<double>::quiet_NaN();   // the mean of the seeds' curves
  double misfit = std::numeric_limits<double>::quiet_NaN();  // the most that it misses a mean by
};

/// An arm's validation score minus the baseline's.
struct TunedGain {
  double at_best = std::numeric_limits<double>::quiet_NaN();
  /// The mean over the seeds that both have, at each of ArmSearch::tried; NaN without equal values.
  std::vector<double> at_equal;
};

}  // namespace ablate::analysis
