#pragma once

#include <optional>
#include <span>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

/// The hypotheses that values - theta * slopes are symmetric about 0, one for each theta.
struct Line {
  std::span<const double> values, slopes;  // all slopes > 0
  std::span<const double> value_sums,
      slope_sums;  // of each sign pattern; the first keeps all signs
};

/// The theta that at least `least` patterns support: those whose statistic |sum| / sqrt(sum of
/// squares) is at least the observed one at theta, or whose rival, the statistic of another
/// hypothesis that does not depend on theta, is. The set is connected but for rare ratios, of which
/// the part around the ratio of the sums is given. Absent if it is unbounded.
std::optional<Interval> supported(const Line& line, std::span<const double> rivals, size_t least);

/// The interval of a test that decides about 0, from which an end may be a rounding error away:
/// without 0, on the side of `centre`, exactly if the test rejects it.
Interval agreeing(Interval interval, bool rejected, double centre);

/// Minus the number of patterns with a statistic of at least that of each one but for `rounding`: a
/// statistic that is larger the smaller the share is, which is the pattern's own p.
std::vector<double> own_p_statistics(const std::vector<double>& statistics, double rounding);

/// As supported(), of own_p_statistics() in place of |sum| / sqrt(sum of squares), also in
/// `rivals`. The set is connected.
std::optional<Interval> supported_by_own_p(const Line& line, std::span<const double> rivals,
                                           size_t least);

}  // namespace ablate::statistics
