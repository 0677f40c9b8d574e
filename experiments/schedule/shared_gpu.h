#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/study/study.h"
#include "training/process/progress.h"

namespace ablate::schedule {

/// The memory of a GPU that runs share. The first run of every task and arm has the GPU to itself,
/// and what it takes is what each of the others needs; after one that ends without a report, as for
/// want of memory, the next has it to itself again.
class SharedGpu {
 public:
  /// Whether the run may start now: nothing else runs, or all that would run have been measured and
  /// fit.
  bool has_room(const config::RunSpecification& run) const;
  void start(const config::RunSpecification& run);
  /// `memory` is what the run has reported; zeros: nothing.
  void end(const config::RunSpecification& run, const training::GpuMemory& memory);

 private:
  using TaskAndArm = std::pair<std::string, std::string>;

  std::map<TaskAndArm, int64_t> needed_;  // of those that were measured, in bytes
  std::vector<TaskAndArm> running_;
  int64_t total_ = 0;
};

}  // namespace ablate::schedule
