#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/analysis/statistics/joint_test.h"

namespace ablate::analysis {

/// A value for each seed at every rung of a ladder.
using Effects = std::vector<Sample>;

/// The values of one seed at every rung; empty if one is missing or not finite.
std::vector<double> over_rungs(const Effects& effects, size_t seed);

/// The values minus their mean, zeros if they differ only by rounding.
std::vector<double> centred_at_zero(std::vector<double> values);

/// p of the hypotheses that the effect of an arm is the same at every rung, one for each arm: the
/// smallest one of its rungs in the joint sign-flip test of the effects minus their mean over the
/// rungs, seed by seed. All rungs of all arms are tested together if these are `comparisons` arms
/// with the same seeds; else each arm by itself, with Holm's correction for `comparisons` arms. NaN
/// of an arm with fewer than two seeds.
std::vector<double> interaction_p(std::span<const Effects> arms, size_t comparisons,
                                  statistics::Joint joint = statistics::Joint::max_t);

}  // namespace ablate::analysis
