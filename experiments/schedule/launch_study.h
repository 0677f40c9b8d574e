#pragma once

#include <optional>
#include <ostream>

#include "experiments/schedule/launch.h"

namespace ablate::schedule {

/// Runs a study on Slurm, wave by wave: all runs that may start now, and when none of them is in
/// the queue any more, those that may start then. All state is in run folders, so runs that were
/// lost, cut off or requeued in vain are part of the next wave. Submits a wave and returns nullopt;
/// the job that closes the wave calls this again. With `launch.waits` it waits until no run is
/// left. Returns the outcome if no run is left. Throws UsageError if jobs of another wave of the
/// study are queued, or another build of the program submitted the last wave; Interrupted, which
/// leaves the jobs in the queue; and the exceptions of slurm.h.
std::optional<StudyOutcome> launch_study(const config::Study& study, const Launch& launch,
                                         std::ostream& messages);

}  // namespace ablate::schedule
