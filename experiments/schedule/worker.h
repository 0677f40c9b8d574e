#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/records/folders.h"
#include "training/process/rank_processes.h"

namespace ablate::schedule {

/// How the processes of one run compute.
struct Worker {
  int64_t threads = 1;  // of each rank
  int64_t ranks = 1;    // processes that share the run's work
  std::chrono::seconds rank_timeout = training::kRankTimeout;
};

/// The command that works on a planned run in a process of its own: this very program, even if a
/// rebuild has put another in its place.
std::vector<std::string> train_command(const records::RunFolder& folder, const Worker& worker);

/// Throws UsageError where so many processes cannot share the work of a run: they divide the
/// batches of an update in halves, and no statistics may join the examples of several.
void check_ranks(const config::Experiment& experiment, int64_t ranks);

}  // namespace ablate::schedule
