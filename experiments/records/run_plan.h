#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "experiments/config/study.h"
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

}  // namespace ablate::records
