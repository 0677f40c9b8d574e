#pragma once

#include <cstdint>
#include <ostream>

#include "experiments/run/train_run.h"
#include "models/libtorch.h"
#include "training/device_options.h"

namespace ablate::run {

/// How a run's process computes.
struct Environment {
  int64_t threads;
  torch::Device device;
  training::Precision precision;  // of matrix products in training
  bool mkl_fast_path;
};

/// Sets the process up for a run: a continued one keeps its number of threads, which is part of
/// what makes it repeatable. Says where the device lacks the precision that is wanted,
/// and has fp32 then.
Environment set_up(const RunJob& job, std::ostream& messages);

}  // namespace ablate::run
