#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The sample of `values`, NaN for missing ones; `range` has the possible values.
Sample sample_of(std::vector<double> values,
                 const statistics::Interval& range = statistics::kUnbounded);

/// The values that are not missing.
std::vector<double> finished_values(const Sample& sample);

/// How many of the values, shares of right examples, count as solved. Empty without a value.
std::optional<SuccessRate> success_of(const Sample& sample);

/// The places of the values that neither sample lacks.
std::vector<size_t> pairs_of(const Sample& arm, const Sample& baseline);

/// `arm` minus `baseline` for each seed; NaN where one of them lacks it.
std::vector<double> differences_by_seed(const Sample& arm, const Sample& baseline);

/// `arm` minus `baseline` of one metric, seed by seed: an estimate, not tested, with the interval
/// of `test`. If a value is censored, the contrast has no differences.
Contrast contrast_of(const Cell& arm, const Sample& baseline, config::PairedTest test);

/// The centres of `values` that `test` does not reject at `level`.
std::optional<statistics::Interval> interval_at(const std::vector<double>& values,
                                                config::PairedTest test, double level);

/// 95 %: the same of finite values, within the range of the possible centres.
std::optional<statistics::Interval> interval_of(
    const std::vector<double>& values, config::PairedTest test,
    const statistics::Interval& range = statistics::kUnbounded);

}  // namespace ablate::analysis
