#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::training {

/// After which a rank that gives no answer is lost.
inline constexpr std::chrono::seconds kRankTimeout{300};

/// What RankProcesses tells the processes that it starts, besides RANK and WORLD_SIZE: what the
/// names of the files begin with in which ranks find each other.
inline constexpr const char* kRankFile = "ABLATE_RANK_FILE";

/// The processes on this machine that share the work of this one, which is rank 0: they run the
/// same command, find each other in files, and end with this process.
class RankProcesses {
 public:
  /// Starts ranks 1 to size - 1. Throws std::system_error.
  RankProcesses(const std::vector<std::string>& command, int64_t size,
                const std::filesystem::path& file);
  /// Kills what still runs, and removes the files.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  /// "rank 1 ended with exit code 3" where one has ended; empty: none has.
  std::string lost() const;
  /// Waits until all have ended by themselves.
  void wait();

 private:
  std::filesystem::path file_;
  std::vector<pid_t> processes_;
};

}  // namespace ablate::training
