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
  std::string remedy;  // "" if there is no problem
};

/// Checks LibTorch, the processor, the GPU, memory, limits, and the disk of `output`, on which it
/// writes and removes a small file.
std::vector<Finding> examine(const std::filesystem::path& output);

/// A line for each finding, and the remedies.
std::string to_text(const std::vector<Finding>& findings);
std::string to_json_text(const std::vector<Finding>& findings);

}  // namespace ablate::commands
