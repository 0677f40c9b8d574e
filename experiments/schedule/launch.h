#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/records/wave.h"
#include "experiments/schedule/run_study.h"
#include "experiments/schedule/slurm.h"

namespace ablate::schedule {

/// How the runs of a study are handed to a cluster.
struct Launch {
  records::StudyFolder folder;      // absolute
  std::filesystem::path program;    // absolute, as jobs start it
  std::vector<std::string> flags;   // for sbatch
  std::vector<std::string> repeat;  // what the closing job tells `program`, in the same folder
  int64_t jobs = 0;                 // runs at a time; 0: as many as the cluster lets
  Worker worker;                    // of each run
  int64_t retries = 1;
  int64_t grace = 120;  // seconds that a run is told before its job's time is over
  bool waits = false;   // this process watches the queue, and no job closes a wave
};

/// What the jobs of a study are called: they begin so, then follow the number of the wave and
/// kClosing for the job that closes it.
std::string job_prefix(const records::StudyFolder& folder);
inline constexpr const char* kClosing = "-close";

/// Plans runs and gives one complete command for each, as a shell takes it.
std::vector<std::string> commands_for(const config::Study& study,
                                      const std::vector<config::RunSpecification>& runs,
                                      const Launch& launch);

/// Submits the runs as one wave: an array, several where one may not be that long, and unless
/// `launch.waits` the job that closes the wave. Gives the number of the wave. Throws UsageError
/// where another process is submitting, and what Slurm does.
int64_t submit_wave(const config::Study& study, const std::vector<config::RunSpecification>& runs,
                    const Launch& launch);

/// Submits the closing job of a wave whose submission was cut off after its arrays.
void close_wave(int64_t number, const std::vector<QueuedJob>& arrays, const Launch& launch);

/// Gives every run of the wave, none of which is in the queue any more, the record that its job may
/// not have come to write: one that was lost has crashed, and one that was cancelled has failed.
void account_for(const records::WaveFolder& wave);

/// The state of all runs of a study as its folders tell, for raise().
StudyOutcome outcome_of(const config::Study& study, const records::StudyFolder& folder);

}  // namespace ablate::schedule
