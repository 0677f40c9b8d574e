#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/run_one.h"

namespace ablate::experiments {

/// What a run will take.
struct RunEstimate {
  int64_t parameters = 0, active_parameters = 0;
  int64_t steps = 0;
  double flops = 0;          // of training: three times those of its forward passes
  int64_t memory_bytes = 0;  // most of the process that timed a few updates
  double seconds = 0;        // data, training, validations and evaluation, by the timed updates
  int64_t disk_bytes = 0;    // of the checkpoints that are kept at the end
  double calibration_seconds = 0;

  static void fields(auto& o, auto&& visit) {
    visit("parameters", o.parameters);
    visit("active_parameters", o.active_parameters);
    visit("steps", o.steps);
    visit("flops", o.flops);
    visit("memory_bytes", o.memory_bytes);
    visit("seconds", o.seconds);
    visit("disk_bytes", o.disk_bytes);
    visit("calibration_seconds", o.calibration_seconds);
  }
};

/// Reads the run's data and times some updates of its model, a validation and a part of the
/// evaluation, with outputs of the references' length. Writes nothing. A run that starts from an
/// arm is taken for one that starts from nothing.
RunEstimate estimate_run(const RunSpecification& run, const RunPlace& place,
                         std::ostream& messages);

}  // namespace ablate::experiments
