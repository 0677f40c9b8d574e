#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/records/folders.h"
#include "options/members.h"

namespace ablate::records {

/// One start of a run: its hardware and software, and its updates. environment.json has a list of
/// them.
struct RunStart {
  std::string began;  // in UTC: 2026-01-31T23:59:59Z
  std::string host, processor, cpu_capability;
  std::string gpu, driver;               // empty on a CPU
  std::string libtorch, libtorch_built;  // the version that ran, and the one it was linked with
  std::string program_sha256;
  std::string commit;  // `git describe` of the program's source; empty if that is no checkout
  std::string job;     // id at the cluster's scheduler; empty without one
  int64_t from_step = 0;
  int64_t to_step = 0;  // last saved step
  bool ended = false;   // false while it runs, or if the process was lost

  ABLATE_FIELDS(began, host, processor, cpu_capability, gpu, driver, libtorch, libtorch_built,
                program_sha256, commit, job, from_step, to_step, ended)
};

/// The starts of the run so far; empty if environment.json is missing or has no valid list.
std::vector<RunStart> read_starts(const RunFolder& folder);

/// The hardware of the starts, each kind once: the GPU, or the processor and its instruction set.
std::string hardware_of(const std::vector<RunStart>& starts);

/// The content of environment.json of the run; null if it is missing. Throws CheckpointError if it
/// is damaged.
nlohmann::json recorded_environment(const RunFolder& folder);

/// The base of a run's relative data paths: `given`, or else the base in training. Throws as
/// recorded_environment().
std::filesystem::path data_folder_of(const std::filesystem::path& run, const std::string& given);

/// The runs of the study in `folder` that were begun, also those that only look for an arm's best
/// values, by name, so that an arm comes before its trial runs. Empty if it is no study's folder.
std::vector<RunFolder> runs_in(const std::filesystem::path& folder);

/// Throws CheckpointError if the folder holds no run; for a study's folder the message names one of
/// its runs.
void require_run(const RunFolder& folder);

/// Throws UsageError if the run in the folder is not finished, or the configurations show that a
/// run of `own` cannot start from it (config::start_problems()); CheckpointError as require_run().
void check_start(const RunFolder& folder, const config::Experiment& own);

/// The initial weights of a run: digest of a parameter's name, shape and values -> its number of
/// elements.
using InitialWeights = std::map<std::string, int64_t>;

/// The share of `arm`'s initial weights, counted by elements, that `baseline` has, too, with the
/// same name, shape and values. REQUIRES: `arm` is not empty.
double shared_share(const InitialWeights& arm, const InitialWeights& baseline);

/// Saves them in the run's folder, where a continued run reads them.
void write_initial_weights(const RunFolder& folder, const InitialWeights& weights);
/// Empty if the file is missing. Throws CheckpointError if it is damaged.
InitialWeights read_initial_weights(const RunFolder& folder);

}  // namespace ablate::records
