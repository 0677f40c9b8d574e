#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/arm.h"
#include "experiments/records/spent.h"

namespace ablate::analysis {

/// A validation of a run: what training had spent until then, and the value that it had reached.
struct Validation {
  records::Spent spent{};
  double value = 0;
};
using Validations = std::vector<Validation>;

/// The values of `metric` in a run's log; empty if there is no log. Throws CheckpointError if it is
/// damaged.
Validations validations_of(const std::filesystem::path& log, const std::string& metric);

/// A figure that may be a bound.
struct Cost {
  double value = kUntested;
  Bound bound = Bound::exact;
};

/// What a run has spent of `resource` when its validations first reach `target`: both change
/// linearly from one validation to the next. A run that never gets there is bounded from below by
/// what it has spent at its last validation, and one that is there at the first from above by what
/// it has spent then. NaN without validations or target.
Cost cost_of(const Validations& run, config::Resource resource,
             const std::pair<double, Direction>& target);

/// arm / baseline. NaN and open if the bounds of the two leave it open on both sides.
Cost ratio_of(const Cost& arm, const Cost& baseline);

/// Sets the geometric mean of the seeds and its interval, from their logarithms.
void set_mean(CostRatio& ratio, const std::vector<double>& logarithms);

/// Adds to each arm of the task the cost to reach the target, one cell for each resource, and its
/// ratios to the baseline's. `runs` are the validations by arm and seed, empty for runs that have
/// not finished.
void add_costs(TaskEvidence& task, const config::Target& target,
               const std::vector<std::vector<Validations>>& runs);

/// "0.83 (0.79 to 0.88)": the geometric mean of the seeds with its interval; "> 1.00" if no seed
/// gets there, "> 1.00 in 2 of 6 seeds" if some do not, with the smallest bound; "-" of no run.
std::string ratio_figure(const CostRatio& ratio);

}  // namespace ablate::analysis
