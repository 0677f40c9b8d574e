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

/// The rank of this process among those that share a run's work, and how they find each other: at
/// the address of the first one, or, on one machine, by files.
struct RankPlace {
  int64_t rank = 0, size = 1;
  std::string host;  // of rank 0; empty: `file`
  uint16_t port = 0;
  bool served = false;         // a launcher's agent answers at the port, and not rank 0
  std::filesystem::path file;  // prefix of the files by which ranks find each other
  std::string attempt;         // distinguishes this start from an earlier one that left its keys
  std::chrono::seconds timeout = kRankTimeout;
  /// Why a missing rank will never connect, if this process knows; empty: it may still.
  std::function<std::string()> lost = [] { return ""; };
};

/// The place from the environment: torchrun's variables RANK, WORLD_SIZE, MASTER_ADDR and
/// MASTER_PORT; those of `srun` with the latter two; or those of RankProcesses. nullopt if it is
/// not one of `size` processes. Throws std::invalid_argument if the variables name another number
/// of processes or are incomplete.
std::optional<RankPlace> place_of_this_process(int64_t size);

}  // namespace ablate::training
