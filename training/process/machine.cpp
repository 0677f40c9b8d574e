#include "training/process/machine.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <vector>

#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

using std::filesystem::path;

/// The number after `key` in a file of keys and numbers, or its first one without a key.
std::optional<double> number_in(const path& file, const std::string& key = "") {
  std::ifstream stream(file);
  for (std::string word; !key.empty() && word != key;)
    if (!(stream >> word)) return {};
  double number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

/// Inactive page cache counts as used, but the system frees it before memory runs short.
void limit_memory(GroupLimits& limits, const path& limit, const path& taken,
                  const std::string& cache) {
  const auto most = number_in(limit);
  if (!most) return;
  const double reclaimable = number_in(taken.parent_path() / "memory.stat", cache).value_or(0);
  const double left = *most - number_in(taken).value_or(0) + reclaimable;
  limits.memory = std::clamp(left, 0.0, limits.memory);
}

/// The value of the first line "<key> ... : value" of a file; empty if there is none.
std::string value_in(const path& file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == line.npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == line.npos ? "" : line.substr(begin);
  }
  return "";
}

void limit_cores(GroupLimits& limits, std::optional<double> quota, std::optional<double> period) {
  if (quota && period && *quota > 0 && *period > 0)
    limits.cores = std::min(limits.cores, *quota / *period);
}

/// Applies the limits of one group, of the version that its files show.
void apply(GroupLimits& limits, const path& group) {
  double quota = 0, period = 0;
  if (std::ifstream(group / "cpu.max") >> quota >> period) limit_cores(limits, quota, period);
  limit_cores(limits, number_in(group / "cpu.cfs_quota_us"),
              number_in(group / "cpu.cfs_period_us"));
  limit_memory(limits, group / "memory.max", group / "memory.current", "inactive_file");
  limit_memory(limits, group / "memory.limit_in_bytes", group / "memory.usage_in_bytes",
               "total_inactive_file");
}

/// A container may see a group by its path on the host, which does not exist inside: its own limits
/// are then at the top.
void apply_with_parents(GroupLimits& limits, const path& mount, path group) {
  for (; group.has_relative_path(); group = group.parent_path())
    apply(limits, mount / group.relative_path());
  apply(limits, mount);
}

}  // namespace

GroupLimits group_limits(const path& root) {
  GroupLimits limits;
  const auto mounts = root / "sys/fs/cgroup";
  std::ifstream groups(root /
                       "proc/self/cgroup");  // number:controllers:path, without the first two
  for (std::string line; std::getline(groups, line);) {  // names in version 2
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const path group = line.substr(second + 1);
    if (controllers == ",,") apply_with_parents(limits, mounts, group);
    for (const std::string one : {"cpu", "memory"})
      if (controllers.find("," + one + ",") != std::string::npos)
        apply_with_parents(limits, mounts / one, group);
  }
  return limits;
}

int64_t available_cores() {
  std::array<cpu_set_t, 16> sets{};  // more than the 1,024 processors of one
  int64_t cores = 1;
  if (sched_getaffinity(0, sizeof sets, sets.data()) == 0)
    cores = CPU_COUNT_S(sizeof sets, sets.data());
  const double most = group_limits().cores;
  return most < static_cast<double>(cores) ? std::max<int64_t>(1, static_cast<int64_t>(most))
                                           : cores;
}

int64_t available_memory() {
  const double free = 1024 * number_in("/proc/meminfo", "MemAvailable:").value_or(0);
  return static_cast<int64_t>(std::min(free, group_limits().memory));
}

std::string processor_name() {
  const auto name = value_in("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

std::string gpu_driver(const path& root) {
  std::ifstream file(root / "proc/driver/nvidia/version");  // "... Kernel Module  550.54.15  ..."
  for (std::string word; file >> word;)
    if (!word.empty() && word.front() >= '0' && word.front() <= '9' && word.find('.') != word.npos)
      return word;
  return "";
}

std::string program_sha256() { return tokenizer::sha256(training::read_bytes("/proc/self/exe")); }

}  // namespace ablate::training
