#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/records/folders.h"

namespace ablate::records {

/// What environment.json of the run holds; null where it is missing. Throws CheckpointError where
/// it is damaged.
nlohmann::json recorded_environment(const RunFolder& folder);

/// Where a run's relative data paths start: `given`, or where they did in training. Throws as
/// recorded_environment().
std::filesystem::path data_folder_of(const std::filesystem::path& run, const std::string& given);

}  // namespace ablate::records
