#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// `values` has NaN where there is none; `range` is what they can be.
Sample sample_of(std::vector<double> values,
                 const statistics::Interval& range = statistics::kUnbounded);

/// Those that are there.
std::vector<double> finished_values(const Sample& sample);

/// A claim is made where the Holm-corrected p is at most this.
inline constexpr double kLevel = 0.05;

/// `arm` less `baseline` of one metric, seed by seed: an estimate, not yet tested. There is none,
/// and nothing to test, where a value of either is censored.
Contrast contrast_of(const Cell& arm, const Sample& baseline);

/// Tests that the difference is not 0 and, where there is a margin, that it is smaller than that;
/// both without Holm's correction. Leaves untested what is not finite.
void test_contrast(Contrast& contrast, std::optional<double> margin);

/// The fewest seeds that could show anything in a family of so many comparisons.
int64_t seeds_needed(int64_t comparisons, bool with_margin);

/// The smallest p that so many seeds can give.
double smallest_p(int64_t seeds, bool with_margin);

/// What surrounds a contrast.
struct Claim {
  std::string baseline;  // the arm's name
  std::optional<double> margin;
  int64_t comparisons = 1;  // of the task's family
  std::string missing;      // seeds that only one of both has finished; empty: none, or allowed
  bool censored = false;    // a value of one of the two is
  std::string not_learned;  // why nothing beyond the trained length is claimed; empty: it may be
};

/// Sets verdict and sentence. REQUIRES: the contrast of a primary cell is tested and corrected.
void judge(Contrast& contrast, const Cell& cell, const Claim& claim);

}  // namespace ablate::analysis
