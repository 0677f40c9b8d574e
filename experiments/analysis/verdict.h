#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The context of a contrast in its family.
struct Judged {
  std::string baseline;  // the arm's name
  int64_t comparisons = 1;
  Correction correction = Correction::none;
  int64_t seeds_for_difference = 0;  // the fewest that can show one
  int64_t seeds_for_margin = 0;      // the fewest that can show one smaller than the margin
  std::string missing;               // seeds that only one arm has finished; empty if allowed
  bool censored = false;             // of the arm or of the baseline
  std::string not_learned;           // why no claim beyond the trained length is possible
  bool both_failed = false;          // neither arm gets a tenth of the examples right
};

/// Sets verdict, outcome and sentence. REQUIRES: the contrast of a primary cell is tested.
void judge(Contrast& contrast, const Cell& cell, const Judged& judged);

/// "is no worse": what a claim says of the arm.
std::string_view phrase_of(config::ClaimKind kind);

/// "0.868 less exact match than base (0.786 to 0.949), in all 6 seeds".
std::string effect_text(const Contrast& contrast, const Cell& cell, const std::string& baseline);

}  // namespace ablate::analysis
