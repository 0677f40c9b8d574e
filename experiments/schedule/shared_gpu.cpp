#include "experiments/schedule/shared_gpu.h"

#include <algorithm>

namespace ablate::schedule {

bool SharedGpu::has_room(const config::RunSpecification& run) const {
  auto all = running_;
  all.emplace_back(run.task, run.arm);
  int64_t sum = 0;
  for (const auto& one : all) {
    const auto needed = needed_.find(one);
    if (needed == needed_.end()) return running_.empty();
    sum += needed->second;
  }
  return running_.empty() || sum <= total_;
}

void SharedGpu::start(const config::RunSpecification& run) {
  running_.emplace_back(run.task, run.arm);
}

void SharedGpu::end(const config::RunSpecification& run, const training::GpuMemory& memory) {
  const auto which = std::ranges::find(running_, std::pair(run.task, run.arm));
  if (memory.total == 0) {
    needed_.erase(*which);
  } else if (running_.size() == 1) {  // or others' memory would count
    total_ = memory.total;
    auto& needed = needed_[*which];
    needed = std::max(needed, memory.needed);
  }
  running_.erase(which);
}

}  // namespace ablate::schedule
