#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/run_plan.h"
#include "experiments/schedule/run_study.h"
#include "experiments/schedule/slurm.h"

namespace ablate::schedule {

/// How the runs of a study are handed to a cluster.
struct Launch {
  records::StudyFolder folder;      // absolute
  std::filesystem::path program;    // absolute, as jobs start it
  std::vector<std::string> flags;   // for sbatch
  std::string prologue;             // bash lines before the program; see read_prologue()
  std::vector<std::string> repeat;  // arguments of `program` in the closing job, in the same folder
  int64_t jobs = 0;                 // runs at a time; 0: as many as the cluster lets
  Worker worker;                    // of each run
  int64_t retries = 1;
  int64_t grace = 120;  // seconds before the end of a job's time in which its run is told to stop
  bool waits = false;   // this process watches the queue, and no job closes a wave
};

/// The lines of a file that jobs run before the program. They may set the array `container`, the
/// words before the program of a run. Throws UsageError if it is no text, or if it has lines for
/// sbatch, IoError.
std::string read_prologue(const std::filesystem::path& file);

/// The prefix of the names of a study's jobs, followed by the number of the wave, and by kClosing
/// for the job that closes it.
std::string job_prefix(const records::StudyFolder& folder);
inline constexpr const char* kClosing = "-close";

/// Plans runs and returns one complete shell command for each.
std::vector<std::string> commands_for(const config::Study& study,
                                      const std::vector<config::RunSpecification>& runs,
                                      const Launch& launch);

/// Submits the runs as one wave: an array, or several if it would be too long, and unless
/// `launch.waits` the job that closes the wave. Returns the number of the wave. Throws UsageError
/// if another process is submitting, and the exceptions of slurm.h.
int64_t submit_wave(const config::Study& study, const std::vector<config::RunSpecification>& runs,
                    const Launch& launch);

/// Submits the closing job of a wave whose submission was cut off after its arrays.
void close_wave(int64_t number, const std::vector<QueuedJob>& arrays, const Launch& launch);

/// Writes the missing records of the wave's runs, none of which is in the queue any more: a lost
/// job counts as crashed, a cancelled one as failed.
void account_for(const records::WaveFolder& wave);

}  // namespace ablate::schedule
