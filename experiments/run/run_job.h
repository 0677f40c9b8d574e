#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/records/folders.h"
#include "experiments/records/run_plan.h"
#include "training/ranks/rank_place.h"

namespace ablate::run {

/// A planned run and how its process works on it.
struct RunJob {
  records::RunFolder folder;
  records::RunPlan plan;
  config::Experiment experiment;
  int64_t threads = 1;  // used if the configuration and an earlier start name none
  int64_t ranks = 1;    // processes that share the training
  std::optional<training::RankPlace> place = {};  // of this one; absent: it starts the others
  std::vector<std::string> rank_command = {};     // that those run
  std::chrono::seconds rank_timeout = training::kRankTimeout;

  /// The seed of the run's initial values, in its stream.
  uint64_t initial_seed() const;
  /// That of all other random numbers of the training.
  uint64_t seed() const;
};

/// Reads the plan of `ablate run` in the folder. Throws CheckpointError if there is none, and
/// ConfigError if its configuration cannot be read.
RunJob job_of(const records::RunFolder& folder);

}  // namespace ablate::run
