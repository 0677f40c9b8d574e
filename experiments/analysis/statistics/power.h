#pragma once

#include <cstdint>
#include <optional>

namespace ablate::statistics {

/// How the comparisons of a study are tested for a difference: jointly by joint_sign_flip_p(), or
/// each by itself, by sign_flip_p() or t_test_p(), with Holm's correction.
enum class Testing { joint, holm, t };

/// Arms that share seeds and a baseline.
struct Design {
  int64_t seeds = 0;
  int64_t comparisons = 1;
  Testing testing = Testing::joint;
};

// Effects here are in standard deviations of the differences. Studies are simulated: all runs have
// equal normal scatter, so that the differences of two arms are correlated by 1/2, and one arm of
// the comparisons has an effect. The studies are the same in every call.

/// The probability that the corrected p of the arm is at most 0.05 in the test's first and
/// strictest step, and its difference has the sign of the effect. Increases with the effect. 2,000
/// studies, so its standard error is at most 0.011; all sign patterns up to twelve seeds, else
/// 2,048.
double power_of(const Design& design, double effect);

/// The probability of a claim that a study is planned for.
inline constexpr double kPlannedPower = 0.8;

/// The smallest effect with that power. Absent if so few seeds can claim nothing.
std::optional<double> detectable_effect(const Design& design);

/// The fewest seeds with that power. Absent if they are more than `most`.
std::optional<int64_t> seeds_for(double effect, int64_t comparisons, int64_t most = 100);

}  // namespace ablate::statistics
