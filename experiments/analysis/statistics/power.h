#pragma once

#include <cstdint>
#include <optional>

#include "options/enumeration.h"

namespace ablate::statistics {

/// How the comparisons of a study are tested for a difference: jointly by joint_sign_flip_p(), by
/// Joint::max_t or Joint::min_p, or each by itself, by sign_flip_p(), t_test_p() or e_value_p(),
/// with Holm's correction.
enum class Testing { joint, min_p, holm, t, e_value };

/// What a study is to show of an arm.
ABLATE_ENUM(Aim,
            difference,  // that it differs from the baseline
            no_loss,     // that it loses less than a margin
            equality);   // that it differs by less than a margin

/// Arms that share seeds and a baseline.
struct Design {
  int64_t seeds = 0;
  int64_t comparisons = 1;  // of the family of the test
  Testing testing = Testing::joint;
  Aim aim = Aim::difference;  // never of margins jointly: joint and min_p mean holm
  double effect = 0;          // of an arm whose margin is tested: its difference, or its loss
  int64_t look = 0;           // as for look_factor()
};

// Sizes and margins here are in standard deviations of the differences. The size of a difference is
// the effect of the arm; that of the other aims is the margin.
// Studies are simulated: all runs have equal normal scatter, so that the differences of two arms
// are correlated by 1/2, and the other arms have no effect. The studies are the same in every call.

/// The probability that the aim is reached for one arm in the strictest step of the corrected
/// tests, at 0.05 / look_factor(), a difference with the sign of the effect. Increases with the
/// size. 2,000 studies, so its standard error is at most 0.011; all sign patterns up to twelve
/// seeds, else 2,048.
double power_of(const Design& design, double size);

/// The probability of a claim that a study is planned for.
inline constexpr double kPlannedPower = 0.8;

/// The smallest size with that power. Absent if so few seeds can claim nothing.
std::optional<double> detectable_size(const Design& design);

/// The fewest seeds with that power, whatever those of `design`. Absent if they are more than
/// `most`.
std::optional<int64_t> seeds_for(Design design, double size, int64_t most = 100);

}  // namespace ablate::statistics
