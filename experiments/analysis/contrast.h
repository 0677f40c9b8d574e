#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The sample of `values`, NaN for missing ones; `range` has the possible values.
Sample sample_of(std::vector<double> values,
                 const statistics::Interval& range = statistics::kUnbounded);

/// The values that are not missing.
std::vector<double> finished_values(const Sample& sample);

/// A claim is made if the Holm-corrected p is at most this.
inline constexpr double kLevel = 0.05;

/// `arm` minus `baseline` of one metric, seed by seed: an estimate, not yet tested. If a value is
/// censored, the contrast has no differences.
Contrast contrast_of(const Cell& arm, const Sample& baseline);

/// Tests that the difference is not 0 and, if there is a margin, that it is smaller than the
/// margin; both without Holm's correction. Non-finite differences are not tested.
void test_contrast(Contrast& contrast, std::optional<double> margin);

/// The fewest seeds that can give a significant result in a family of this many comparisons.
int64_t seeds_needed(int64_t comparisons, bool with_margin);

/// The smallest p that this many seeds can give.
double smallest_p(int64_t seeds, bool with_margin);

/// The context of a contrast in its task.
struct Claim {
  std::string baseline;  // the arm's name
  std::optional<double> margin;
  int64_t comparisons = 1;  // of the task's family
  std::string missing;      // seeds that only one arm has finished; empty if allowed
  bool censored = false;    // of the arm or of the baseline
  std::string not_learned;  // why no claim beyond the trained length is possible; empty: it is
};

/// Sets verdict and sentence. REQUIRES: the contrast of a primary cell is tested and corrected.
void judge(Contrast& contrast, const Cell& cell, const Claim& claim);

}  // namespace ablate::analysis
