#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"
#include "options/members.h"

namespace ablate::records {

/// The inputs of a run beside its configuration, fixed before it starts: run.json.
struct RunPlan {
  std::string study, task, arm;  // arm: config::folder_arm()
  int64_t seed = 0;
  bool crossed = false;                      // seed is a pair: config::pair_of()
  bool trial = false;                        // a run of tune, which is scored on no test set
  std::string data_folder;                   // absolute; base of relative data paths
  std::map<std::string, std::string> given;  // path of each value that was given -> its origin
  std::string config_sha256;                 // of config.yaml

  ABLATE_FIELDS(study, task, arm, seed, crossed, trial, data_folder, given, config_sha256)
};

/// Whether `path` is a file that is meant as a study: it is named .yaml or .yml.
bool is_study_file(const std::filesystem::path& path);

/// Throws UsageError if the folder holds a run of another configuration.
void check_plan(const RunFolder& folder, const config::RunSpecification& run);

/// Writes config.yaml and run.json into the run's folder. Throws UsageError as check_plan(), and
/// IoError.
void write_plan(const RunFolder& folder, const config::Study& study,
                const config::RunSpecification& run);

/// Throws CheckpointError if there is no plan, or it is damaged.
RunPlan read_plan(const RunFolder& folder);

/// The configuration in the run's config.yaml. Throws CheckpointError if it is not the planned one,
/// and ConfigError if it cannot be read.
config::Experiment planned_experiment(const RunFolder& folder);

/// Estimated cost of a run. If nothing was timed, seconds are NaN and memory_bytes is 0.
struct RunEstimate {
  int64_t parameters = 0, active_parameters = 0, trained_parameters = 0;
  int64_t steps = 0;
  double flops = 0;          // of training (models/transformer_flops.h)
  int64_t memory_bytes = 0;  // peak of the process that timed a few updates
  double seconds = 0;        // data, training, validations and evaluation, by the timed updates
  int64_t disk_bytes = 0;    // checkpoints at the end
  double test_seconds = 0;   // the evaluation on test sets, part of `seconds`
  double calibration_seconds = 0;
  std::vector<std::string> notes;  // sizes of its data that are less than requested

  ABLATE_FIELDS(parameters, active_parameters, trained_parameters, steps, flops, memory_bytes,
                seconds, disk_bytes, test_seconds, calibration_seconds, notes)
};

/// A job array for some of a wave's runs: its task i works on the run of line first + i, both from
/// 0.
struct WaveArray {
  std::string job;
  int64_t first = 0, tasks = 0;

  ABLATE_FIELDS(job, first, tasks)
};

/// The submitted jobs of a wave: jobs.json.
struct WaveJobs {
  std::vector<WaveArray> arrays;
  std::string closing;         // the job after all arrays; empty: not submitted
  std::string program_sha256;  // of the program that submitted them

  ABLATE_FIELDS(arrays, closing, program_sha256)
};

/// The number of the study's last wave; 0 if it has none.
int64_t last_wave(const StudyFolder& folder);

/// The list of the wave's runs. Both functions throw IoError.
void write_wave_runs(const WaveFolder& wave, const std::vector<RunFolder>& runs);
std::vector<RunFolder> read_wave_runs(const WaveFolder& wave);

/// Absent if no job was submitted, or if the record is damaged, as it is if a task has no run.
/// Throws IoError.
std::optional<WaveJobs> read_wave_jobs(const WaveFolder& wave);

/// Throws IoError.
void write_wave_jobs(const WaveFolder& wave, const WaveJobs& jobs);

}  // namespace ablate::records
