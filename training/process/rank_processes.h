#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::training {

/// After this time a rank that does not answer is lost.
inline constexpr std::chrono::seconds kRankTimeout{300};

/// The variable that RankProcesses sets in addition to RANK and WORLD_SIZE: the prefix of the files
/// by which ranks find each other.
inline constexpr const char* kRankFile = "ABLATE_RANK_FILE";

/// The processes on this machine that share the work of this one, which is rank 0: they run the
/// same command, find each other in files, and end with this process.
class RankProcesses {
 public:
  /// Starts ranks 1 to size - 1. Throws std::system_error.
  RankProcesses(const std::vector<std::string>& command, int64_t size,
                const std::filesystem::path& file);
  /// Kills processes that still run, and removes the files.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  /// "rank 1 ended with exit code 3" if one has ended; otherwise empty.
  std::string lost() const;
  /// Waits until all have ended by themselves.
  void wait();

 private:
  std::filesystem::path file_;
  std::vector<pid_t> processes_;
};

}  // namespace ablate::training
