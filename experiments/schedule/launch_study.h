#pragma once

#include <optional>
#include <ostream>

#include "experiments/schedule/launch.h"

namespace ablate::schedule {

/// Carries a study out on Slurm, wave by wave: all runs that may start now, and when none of them
/// is in the queue any more, those that may start then. State is in run folders alone, so what was
/// lost, cut off or requeued in vain is part of the next wave. Submits a wave and gives nothing;
/// the job that closes the wave calls this again. With `launch.waits` it stays until nothing is
/// left to run. Gives the outcome where nothing is. Throws UsageError where jobs of the study are
/// queued that it does not belong to, or another build of the program submitted the last wave;
/// Interrupted, which leaves the jobs in the queue; and what Slurm throws.
std::optional<StudyOutcome> launch_study(const config::Study& study, const Launch& launch,
                                         std::ostream& messages);

}  // namespace ablate::schedule
