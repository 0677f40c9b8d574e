#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// What a run is told beside its configuration, before it starts: run.json.
struct RunPlan {
  std::string study, task, arm;
  int64_t seed = 0;
  std::string data_folder;                   // absolute: where relative data paths start
  std::map<std::string, std::string> given;  // path of each value that is no default -> its origin
  std::string config_sha256;                 // of config.yaml

  static void fields(auto& o, auto&& visit) {
    visit("study", o.study);
    visit("task", o.task);
    visit("arm", o.arm);
    visit("seed", o.seed);
    visit("data_folder", o.data_folder);
    visit("given", o.given);
    visit("config_sha256", o.config_sha256);
  }
};

/// Throws UsageError where the folder holds a run of another configuration.
void check_plan(const RunFolder& folder, const config::RunSpecification& run);

/// Writes config.yaml and run.json into the run's folder. Throws UsageError where that holds a run
/// of another configuration, and IoError.
void write_plan(const RunFolder& folder, const config::Study& study,
                const config::RunSpecification& run);

/// Throws CheckpointError where there is none, or it is damaged.
RunPlan read_plan(const RunFolder& folder);

/// The configuration in the run's config.yaml. Throws CheckpointError where it is not the one that
/// was planned, and ConfigError where it cannot be read.
config::Experiment planned_experiment(const RunFolder& folder);

/// What a run will take.
struct RunEstimate {
  int64_t parameters = 0, active_parameters = 0;
  int64_t steps = 0;
  double flops = 0;          // of training: three times those of its forward passes
  int64_t memory_bytes = 0;  // most of the process that timed a few updates
  double seconds = 0;        // data, training, validations and evaluation, by the timed updates
  int64_t disk_bytes = 0;    // of the checkpoints that are kept at the end
  double calibration_seconds = 0;
  std::vector<std::string> notes;  // what its data give less of than was asked for

  static void fields(auto& o, auto&& visit) {
    visit("parameters", o.parameters);
    visit("active_parameters", o.active_parameters);
    visit("steps", o.steps);
    visit("flops", o.flops);
    visit("memory_bytes", o.memory_bytes);
    visit("seconds", o.seconds);
    visit("disk_bytes", o.disk_bytes);
    visit("calibration_seconds", o.calibration_seconds);
    visit("notes", o.notes);
  }
};

/// A job array that works on some of a wave's runs: task i on that of line first + i, from 0.
struct WaveArray {
  std::string job;
  int64_t first = 0, tasks = 0;

  static void fields(auto& o, auto&& visit) {
    visit("job", o.job);
    visit("first", o.first);
    visit("tasks", o.tasks);
  }
};

/// What has been submitted of a wave: jobs.json.
struct WaveJobs {
  std::vector<WaveArray> arrays;
  std::string closing;         // the job that follows them; empty: none
  std::string program_sha256;  // that submitted them

  static void fields(auto& o, auto&& visit) {
    visit("arrays", o.arrays);
    visit("closing", o.closing);
    visit("program_sha256", o.program_sha256);
  }
};

/// The number of the study's last wave; 0: there was none.
int64_t last_wave(const StudyFolder& folder);

/// The folders of the wave's runs, a line each. Both throw IoError.
void write_wave_runs(const WaveFolder& wave, const std::vector<RunFolder>& runs);
std::vector<RunFolder> read_wave_runs(const WaveFolder& wave);

/// Empty if nothing was submitted, or if the record is damaged, as one is whose tasks have no runs.
/// Throws IoError.
std::optional<WaveJobs> read_wave_jobs(const WaveFolder& wave);

/// Throws IoError.
void write_wave_jobs(const WaveFolder& wave, const WaveJobs& jobs);

}  // namespace ablate::records
