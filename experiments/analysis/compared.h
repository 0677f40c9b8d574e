#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// A cell that has a contrast, and the arm and the task that it is of.
struct Compared {
  const TaskEvidence& task;
  const ArmEvidence& arm;
  const Cell& cell;

  const Contrast& contrast() const { return *cell.contrast; }
  const std::string& baseline() const { return baseline_of(task, arm)->name; }
};

/// All of them, task by task and arm by arm.
inline std::vector<Compared> compared_in(std::span<const TaskEvidence> tasks) {
  std::vector<Compared> all;
  for (const auto& task : tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells)
        if (cell.contrast) all.push_back({task, arm, cell});
  return all;
}

/// Whether a comparison of the task has a margin.
inline bool tests_margins(const TaskEvidence& task) {
  return std::ranges::any_of(compared_in({&task, 1}), [](const Compared& one) {
    return one.contrast().claim.margin.has_value();
  });
}

}  // namespace ablate::analysis
