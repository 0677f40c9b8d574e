#pragma once

#include <string>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/result.h"
#include "training/tensorboard/event.h"

namespace ablate::experiments {

/// How TensorBoard shows a run of `study`: every value that its study or the command line set.
/// Runs that differ in nothing but the seed are one group.
training::Session session_of(const RunSpecification& run, const std::string& study);

/// The final scores that the run has, as test/<test set>/<score>.
std::vector<training::Scalar> final_scalars(const RunResult& result);

}  // namespace ablate::experiments
