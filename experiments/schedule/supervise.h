#pragma once

#include <cstdint>
#include <ostream>

#include "experiments/records/folders.h"
#include "experiments/schedule/worker.h"

namespace ablate::schedule {

/// Works on a planned run as run_study() does: in a process of its own, so that log.txt and
/// failure.json tell how even a crash went, and again after one. Crashes that failure.json counts
/// from an earlier supervision count, too. Passes on to `messages` what the process says. Throws
/// RunsFailed, and Interrupted where a stop was asked for.
void supervise(const records::RunFolder& folder, const Worker& worker, int64_t retries,
               std::ostream& messages);

}  // namespace ablate::schedule
