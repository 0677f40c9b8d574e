#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/records/result.h"
#include "experiments/records/run_plan.h"
#include "training/tensorboard/event.h"

namespace ablate::run {

/// How TensorBoard shows a run: every value that its study or the command line set. Runs that
/// differ in nothing but the seed are one group.
training::Session session_of(const records::RunPlan& plan, const config::Experiment& experiment);

/// The final scores that the run has, as test/<test set>/<score>.
std::vector<training::Scalar> final_scalars(const records::RunResult& result);

}  // namespace ablate::run
