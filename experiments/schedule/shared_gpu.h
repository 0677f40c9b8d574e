#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/study/study.h"
#include "training/process/progress.h"

namespace ablate::schedule {

/// The memory of a GPU that runs share. The first run of every task and arm has the GPU to itself;
/// each of the others is taken to need as much memory as it did. If a run ends without a report,
/// for example because memory ran out, the next of its arm has the GPU to itself again.
class SharedGpu {
 public:
  /// Whether the run may start now: either the GPU is idle, or the memory of this run and of those
  /// that are running is known and fits.
  bool has_room(const config::RunSpecification& run) const;
  void start(const config::RunSpecification& run);
  /// `memory` is the run's report; zeros if the run made no report.
  void end(const config::RunSpecification& run, const training::GpuMemory& memory);

 private:
  using TaskAndArm = std::pair<std::string, std::string>;

  std::map<TaskAndArm, int64_t> needed_;  // of those that were measured, in bytes
  std::vector<TaskAndArm> running_;
  int64_t total_ = 0;
};

}  // namespace ablate::schedule
