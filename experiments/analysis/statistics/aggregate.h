#pragma once

#include <span>
#include <vector>

#include "experiments/analysis/statistics/interval.h"

namespace ablate::statistics {

/// Scores of one arm: a row for each task, in it one for each run.
using TaskScores = std::vector<std::vector<double>>;

/// The mean of the middle half of all runs of all tasks (Agarwal et al. 2021): a quarter of the
/// scores, rounded down, is cut at each end. NaN of nothing.
double interquartile_mean(const TaskScores& scores);

/// Its 95 % percentile interval from 2,000 bootstrap samples, runs drawn within their task, with a
/// fixed seed. REQUIRES: no empty task.
Interval interquartile_interval(const TaskScores& scores);

/// The probability that a run of `left` is greater than one of `right`: Mann-Whitney's U divided by
/// the number of pairs, ties a half (Agarwal et al. 2021). NaN where a side is empty.
double probability_greater(std::span<const double> left, std::span<const double> right);

}  // namespace ablate::statistics
