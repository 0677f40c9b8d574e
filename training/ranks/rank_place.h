#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "training/process/rank_processes.h"

namespace ablate::training {

/// A process that shares the work of this run ended, or gave no answer in time.
struct RankLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Which of the processes that share a run's work this one is, and where they find each other: at
/// the address of the first one, or, on one machine, in files.
struct RankPlace {
  int64_t rank = 0, size = 1;
  std::string host;  // of rank 0; empty: `file`
  uint16_t port = 0;
  bool served = false;         // a launcher's agent answers at the port, and not rank 0
  std::filesystem::path file;  // with it begin the names of those in which ranks find each other
  std::string attempt;         // tells this start from an earlier one that left its keys there
  std::chrono::seconds timeout = kRankTimeout;
  /// Why a rank that is waited for will never come, as far as this process knows; empty: it may.
  std::function<std::string()> lost = [] { return ""; };
};

/// The place that who started this process gave it: torchrun's variables RANK, WORLD_SIZE,
/// MASTER_ADDR and MASTER_PORT; those of `srun` with the latter two; or those of RankProcesses.
/// Nothing where it is none of `size` processes. Throws std::invalid_argument where the variables
/// name another number of processes or are incomplete.
std::optional<RankPlace> place_of_this_process(int64_t size);

}  // namespace ablate::training
