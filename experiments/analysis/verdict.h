#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/analysis/compared.h"

namespace ablate::analysis {

/// An arm has learned a task if this share of its outputs within the trained length is right.
inline constexpr double kLearned = 0.9;
inline constexpr const char* kGate = "exact_match";

/// The context of a contrast in its family.
struct Judged {
  std::string baseline;  // the arm's name
  int64_t comparisons = 1;
  Correction correction = Correction::none;
  int64_t seeds_for_difference = 0;  // the fewest that can show one
  int64_t seeds_for_margin = 0;      // the fewest that can show one smaller than the margin
  std::optional<NoClaim> no_claim;   // a reason in the runs themselves, before any test
  bool crossed = false;              // the runs share seeds
  bool both_failed = false;          // neither arm gets a tenth of the examples right
};

/// Sets verdict, reason, outcome and sentence. REQUIRES: the contrast of a primary cell is tested.
void judge(Contrast& contrast, const Cell& cell, const Judged& judged);

/// "is no worse": what a claim says of the arm.
std::string_view phrase_of(config::ClaimKind kind);

/// "3 seeds can show no difference; it takes 6": why there is no claim, and the claim that is then
/// still open. REQUIRES: contrast.no_claim.
std::string no_claim_words(const Contrast& contrast);

/// "0.868 less exact match than base (0.786 to 0.949), in all 6 seeds".
std::string effect_text(const Compared& one);

}  // namespace ablate::analysis
