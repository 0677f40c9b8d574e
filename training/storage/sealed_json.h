#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "training/storage/checkpoint_error.h"

namespace ablate::training {

/// An object as the bytes of a file that holds the digest of everything else in it, so that no byte
/// of it can change unnoticed. Numbers must be finite (without_non_finite()).
std::string sealed_json(nlohmann::json object);

/// The object of such a file, without the digest. Throws CheckpointError if the file is damaged,
/// with `remedy` behind the reason, and IoError if it cannot be read.
nlohmann::json read_sealed_json(const std::filesystem::path& path, const std::string& remedy = "");

}  // namespace ablate::training
