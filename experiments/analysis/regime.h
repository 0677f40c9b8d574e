#pragma once

#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/study/regime.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// A study misses a source's range by more than this factor, of any quantity, to be outside.
inline constexpr double kRegimeTolerance = 4;

/// The values of a trained run, each as a range of one value.
config::RegimeOptions regime_of(const config::Experiment& experiment,
                                const records::RunResult& run);

/// The quantities of a study that are outside the source's range, such as "depth 2, in the source
/// 12 to 24". Those that either does not know are left out.
std::vector<std::string> outside(const config::RegimeOptions& source,
                                 const config::RegimeOptions& study);

}  // namespace ablate::analysis
