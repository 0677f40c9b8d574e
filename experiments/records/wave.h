#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/records/folders.h"

namespace ablate::records {

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
