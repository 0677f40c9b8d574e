#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// A study by curve as it is compared: one result of each arm and seed, whose scores are those of
/// the seed's own curve at the vertex of its arm, within the range of the metric. All else is of
/// the run at the value nearest to it: steps, tokens, times, outputs.
struct AtVertices {
  config::Study study;  // nearest_runs()
  records::StudyRuns runs;
  std::vector<TunedArm> arms;
};

/// REQUIRES: study.by_curve().
AtVertices at_vertices(const config::Study& study, const records::StudyRuns& runs);

/// The study without the runs of curves that are not the nearest to their arm's vertex; of an arm
/// without a curve its first value's stay.
config::Study nearest_runs(config::Study study, const std::vector<TunedArm>& arms);

/// "flat: the best tried value", "0.016 left out, for it diverged"; empty if all is well.
/// REQUIRES: a curve.
std::string curve_remark(const TunedArm& arm, const TuningEvidence& tuning);

/// The study and the results from which the evidence of a study by curve is made, and its arms.
std::vector<std::string> curve_notes(const Evidence& evidence);

}  // namespace ablate::analysis
