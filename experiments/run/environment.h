#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>

#include "experiments/run/train_run.h"
#include "models/libtorch.h"

namespace ablate::run {

/// How a run's process computes.
struct Environment {
  int64_t threads;
  torch::Device device;
  bool bfloat16;
};

/// Which program on which machine makes a run: fields of environment.json.
nlohmann::json record_of_maker();

/// Sets the process up for a run: a continued one keeps its number of threads, which is part of
/// what makes it repeatable. Says where bfloat16 is wanted and missing.
Environment set_up(const RunJob& job, std::ostream& messages);

}  // namespace ablate::run
