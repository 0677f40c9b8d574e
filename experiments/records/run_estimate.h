#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ablate::records {

/// What a run will take.
struct RunEstimate {
  int64_t parameters = 0, active_parameters = 0;
  int64_t steps = 0;
  double flops = 0;          // of training: three times those of its forward passes
  int64_t memory_bytes = 0;  // most of the process that timed a few updates
  double seconds = 0;        // data, training, validations and evaluation, by the timed updates
  int64_t disk_bytes = 0;    // of the checkpoints that are kept at the end
  double calibration_seconds = 0;
  std::vector<std::string> notes;  // what its data give less of than was asked for

  static void fields(auto& o, auto&& visit) {
    visit("parameters", o.parameters);
    visit("active_parameters", o.active_parameters);
    visit("steps", o.steps);
    visit("flops", o.flops);
    visit("memory_bytes", o.memory_bytes);
    visit("seconds", o.seconds);
    visit("disk_bytes", o.disk_bytes);
    visit("calibration_seconds", o.calibration_seconds);
    visit("notes", o.notes);
  }
};

}  // namespace ablate::records
