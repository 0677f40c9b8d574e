#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ablate::commands {

enum class Health { ok, warn, fail };

/// One thing that runs need.
struct Finding {
  std::string name;
  Health health;
  std::string detail;
  std::string remedy;  // "" where nothing is wrong
};

/// Looks at LibTorch, the processor, the GPU, memory, limits, and at the disk that `output` is on,
/// where it writes and removes a small file.
std::vector<Finding> examine(const std::filesystem::path& output);

/// A line for each finding, and the remedies.
std::string to_text(const std::vector<Finding>& findings);
std::string to_json_text(const std::vector<Finding>& findings);

}  // namespace ablate::commands
