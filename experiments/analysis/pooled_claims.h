#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// A claim of one study, on one test set, among those of several studies.
struct PooledClaim {
  std::string study, setting, arm, test_set;
  config::ClaimKind claim{};
  std::optional<Outcome> outcome;
  double p = 1;  // of the deciding test, corrected within its study; 1 if undecided
  double q = 1;  // statistics::false_discovery_rates() of all p
};

/// How often the baseline with other random numbers is shown to differ from the baseline.
struct FalseAlarms {
  int64_t controls = 0, alarms = 0;
  statistics::Interval interval;  // of their rate: statistics::exact_interval()
};

/// The claims that count: without those whose study did not learn the task or is outside the regime
/// of the claim's source.
std::vector<PooledClaim> claims_of(std::span<const Evidence> studies);

/// Absent if no control was tested.
std::optional<FalseAlarms> false_alarms_of(std::span<const Evidence> studies);

}  // namespace ablate::analysis
