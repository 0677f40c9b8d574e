#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ablate::analysis {

/// Why the verdict on a primary contrast is not that of a test.
enum class Reason {
  uneven,         // the arm and the baseline have not finished the same seeds
  no_gate,        // beyond the trained length, and there is no test set within it
  not_learned,    // beyond the trained length, and one of the two did not learn the task within it
  both_failed,    // the two are alike, but neither gets a tenth of the examples right
  censored,       // a run has not reached the target
  at_once,        // both runs of a seed were at the target at their first validation
  unstable,       // some seeds collapsed
  not_finite,     // a value is not finite
  too_few_seeds,  // the number of seeds cannot give a significant result
  crossed,        // runs share seeds
};

/// A seed that only one of an arm and its baseline has finished.
struct UnevenSeed {
  int64_t seed = 0;
  bool of_arm = false;  // that the arm lacks, else the baseline
};

/// An arm that did not learn its task within the trained length.
struct Unlearned {
  std::string arm, test_set;
  double exact_match = 0;
};

/// Why there is no claim, with the numbers that the reason has.
struct NoClaim {
  Reason reason{};
  std::vector<UnevenSeed> uneven;
  std::vector<Unlearned> unlearned;
  int64_t seeds_needed = 0;  // of too few
  int64_t comparisons = 0;   // that Holm's correction covers, of too few seeds; 0: another one
};

}  // namespace ablate::analysis
