#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// One start of a run: what it computed on, and which updates it made. environment.json has a list
/// of them.
struct RunStart {
  std::string began;  // in UTC: 2026-01-31T23:59:59Z
  std::string host, processor, cpu_capability;
  std::string gpu, driver;  // empty where it trained on a CPU
  std::string libtorch;
  std::string program_sha256;
  std::string job;  // of a cluster's scheduler; empty without one
  int64_t from_step = 0;
  int64_t to_step = 0;  // the last that was saved
  bool ended = false;   // false while it runs, and where the process was lost

  static void fields(auto& o, auto&& visit) {
    visit("began", o.began);
    visit("host", o.host);
    visit("processor", o.processor);
    visit("cpu_capability", o.cpu_capability);
    visit("gpu", o.gpu);
    visit("driver", o.driver);
    visit("libtorch", o.libtorch);
    visit("program_sha256", o.program_sha256);
    visit("job", o.job);
    visit("from_step", o.from_step);
    visit("to_step", o.to_step);
    visit("ended", o.ended);
  }
};

/// The starts of the run so far; none where environment.json is missing or damaged.
std::vector<RunStart> read_starts(const RunFolder& folder);

/// What the starts computed on, each kind once: the GPU, or the processor and what it can do.
std::string hardware_of(const std::vector<RunStart>& starts);

/// What environment.json of the run holds; null where it is missing. Throws CheckpointError where
/// it is damaged.
nlohmann::json recorded_environment(const RunFolder& folder);

/// Where a run's relative data paths start: `given`, or where they did in training. Throws as
/// recorded_environment().
std::filesystem::path data_folder_of(const std::filesystem::path& run, const std::string& given);

/// Throws CheckpointError if the folder holds no run; for a study's folder it names one of its
/// runs.
void require_run(const RunFolder& folder);

/// Throws UsageError if the configurations show that a run of `own` cannot start from the run in
/// the folder as its training.init_from says; CheckpointError as require_run().
void check_start(const RunFolder& folder, const config::Experiment& own);

/// What the parameters of a run start from: how many numbers each digest of a parameter's name,
/// shape and values stands for.
using InitialWeights = std::map<std::string, int64_t>;

/// The share of `arm`'s initial weights, counted in numbers, that `baseline` starts from too, under
/// the same names and in the same shapes. REQUIRES: `arm` is not empty.
double shared_share(const InitialWeights& arm, const InitialWeights& baseline);

/// Keeps them in the run's folder, where a continued run finds what it started from.
void write_initial_weights(const RunFolder& folder, const InitialWeights& weights);
/// Empty where the run was started by a version that did not keep them. Throws CheckpointError
/// where the file is damaged.
InitialWeights read_initial_weights(const RunFolder& folder);

}  // namespace ablate::records
