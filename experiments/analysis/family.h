#pragma once

#include <cstdint>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/analysis/statistics/joint_test.h"
#include "experiments/analysis/statistics/power.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::analysis {

/// A claim is made if the corrected p is at most this.
inline constexpr double kLevel = 0.05;

/// A comparison that is tested together with the others of its family.
struct Tested {
  Contrast* contrast;            // with finite differences
  std::vector<size_t> pairs;     // their places among the study's seeds
  std::vector<double> baseline;  // the baseline's values of these pairs
  Direction direction;
};

/// All comparisons of a family that can be tested.
struct Family {
  std::vector<Tested> tested;
  std::vector<Contrast*> infinite;  // of which a difference is infinite: only signs are tested
  int64_t comparisons = 0;          // with those that cannot be tested
  int64_t with_margins = 0;         // of these, those with a margin
  config::PairedTest test = config::PairedTest::sign_flip;
  config::JointCorrection correction = config::JointCorrection::max_t;  // of sign flips
  int64_t look = 0;  // which one at the study's question; 0: of no series

  double look_factor() const { return statistics::look_factor(look); }
};

/// How a family whose comparisons have the same seeds is tested for differences.
inline statistics::Testing testing_of(config::PairedTest test, config::JointCorrection correction) {
  using statistics::Testing;
  if (test == config::PairedTest::e_value) return Testing::e_value;
  if (test == config::PairedTest::t) return Testing::t;
  return correction == config::JointCorrection::min_p ? Testing::min_p : Testing::joint;
}

inline statistics::Joint joint_of(config::JointCorrection correction) {
  return correction == config::JointCorrection::min_p ? statistics::Joint::min_p
                                                      : statistics::Joint::max_t;
}

/// Tests every comparison for a difference and, as far as it has a margin, for a difference smaller
/// than the margin and for one beyond it, and sets the intervals that agree with the corrected test
/// of a difference. The p of differences are corrected by the joint sign-flip test if all
/// comparisons of the family are tested with the same seeds, else by Holm's method, untested
/// comparisons counting as p = 1; those of margins by Holm's method.
Correction test_family(Family& family);

/// Adds the smallest difference that such a study shows to every contrast, by the family's test and
/// its correction. REQUIRES: test_family() was called.
void add_detectable(Family& family);

/// The fewest seeds that can show a difference.
int64_t seeds_for_difference(const Family& family);

/// The fewest seeds that can show a difference smaller than the margin.
int64_t seeds_for_margin(const Family& family);

}  // namespace ablate::analysis
