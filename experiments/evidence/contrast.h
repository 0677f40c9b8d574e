#pragma once

#include <string>

#include "experiments/evidence/evidence.h"

namespace ablate::experiments {

/// A claim is made where the Holm-corrected p is at most this.
inline constexpr double kLevel = 0.05;

/// `arm` less `baseline` of one metric, tested seed by seed; without Holm's correction and without
/// a verdict.
Contrast contrast_of(const Cell& arm, const Sample& baseline);

/// What surrounds a contrast of the primary metric.
struct Claim {
  std::string baseline;     // the arm's name
  int64_t comparisons = 1;  // arms that are compared with it on this test set
  std::string missing;      // seeds that only one of both has finished; empty: none, or allowed
  std::string not_learned;  // why nothing beyond the trained length is claimed; empty: it may be
};

/// Sets verdict and sentence; REQUIRES: holm_p is set.
void judge(Contrast& contrast, const Cell& cell, const Claim& claim);

}  // namespace ablate::experiments
