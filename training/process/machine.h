#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace ablate::training {

/// Cores that this process may use: of its affinity, but no more than its control groups' quota of
/// time pays for. At least one.
int64_t available_cores();

/// Bytes of memory that are free here, and that the limits of this process's control groups leave.
int64_t available_memory();

/// The processor's model; "unknown" if it has no name.
std::string processor_name();

/// The version of NVIDIA's driver; empty without one, or if a container hides it.
std::string gpu_driver(const std::filesystem::path& root = "/");

/// SHA-256 of this program's file, even if it has been replaced since the start.
std::string program_sha256();

/// Limits of control groups (version 1 or 2).
struct GroupLimits {
  double cores = std::numeric_limits<double>::infinity();
  double memory = std::numeric_limits<double>::infinity();  // bytes
};

/// The limits of this process's groups and of all groups above them, read below `root`.
GroupLimits group_limits(const std::filesystem::path& root = "/");

}  // namespace ablate::training
