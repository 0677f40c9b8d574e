#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace ablate::training {

/// The exact contents of a checkpoint's folder.
struct Manifest {
  struct File {
    uint64_t bytes = 0;
    std::string sha256;
  };
  int64_t step = 0;
  std::map<std::string, File> files;
};

/// Whether a file of a checkpoint may have this name: 1 to 100 of A-Z a-z 0-9 . _ -, not beginning
/// with a point.
bool valid_file_name(std::string_view name);

/// The bytes of manifest.json, which end in their own digest.
std::string to_json(const Manifest& manifest);

/// The manifest in `folder`. Throws CheckpointError if it is missing or not as `to_json` wrote it.
Manifest read_manifest(const std::filesystem::path& folder);

/// The bytes of one listed file; throws CheckpointError if they are not those of the manifest.
std::string read_listed(const std::filesystem::path& folder, const Manifest& manifest,
                        const std::string& name);

}  // namespace ablate::training
