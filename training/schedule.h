#pragma once

#include <cstdint>

#include "training/optimizer_options.h"

namespace ablate::training {

/// Learning rate of update `step` (the first is 1) of `steps`: a pure function, so that resuming
/// needs no state. Every schedule rises linearly to its peak at step `warmup`.
double learning_rate(const ScheduleOptions& schedule, int64_t step, int64_t steps);

}  // namespace ablate::training
