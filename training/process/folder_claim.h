#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "options/members.h"
#include "training/process/interrupt.h"

namespace ablate::training {

/// Another process owns the folder, or has taken it over.
struct NotTheOwner : Interrupted {
  using Interrupted::Interrupted;
};

/// The identity of a process, for processes of any host.
struct ProcessIdentity {
  std::string host;
  std::string boot;           // changes whenever the host starts
  std::string pid_namespace;  // containers of one host number their processes each for themselves
  int64_t pid = 0;
  std::string began;  // distinguishes it from a later process with the same number
  std::string job;    // of a cluster's scheduler; empty without one

  ABLATE_FIELDS(host, boot, pid_namespace, pid, began, job)
};

ProcessIdentity this_process();

/// The job of a cluster's scheduler that this process belongs to; empty outside of one.
std::string scheduler_job();

/// Whether this process can check if that one runs: it is on the same host, in the same pid
/// namespace.
bool is_in_sight(const ProcessIdentity& process);

/// Whether the process has certainly ended. False for one out of sight.
bool surely_gone(const ProcessIdentity& process);

/// Decides from the signs of life of a folder's owner whether it is alive. Only the observer's
/// clock counts, since those of two hosts may differ by hours.
class OwnerWatch {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Verdict { undecided, alive, gone };

  explicit OwnerWatch(std::chrono::seconds lease) : lease_(lease) {}

  /// Takes the owner's last sign of life, read at `now`. The owner is alive if it has changed, and
  /// gone if it has not for the whole lease.
  Verdict observe(const std::string& sign, Clock::time_point now);

 private:
  std::chrono::seconds lease_;
  std::optional<std::string> first_;
  Clock::time_point since_;
};

/// How the owner of a folder stands.
enum class Ownership { none, alive, lost };

/// Looks at the claims of a folder without taking part: `none` if nobody claimed it or its owner
/// has let go, `lost` if the owner has ended without doing so. One out of sight counts as lost if
/// its last sign of life is older than twice the lease, by this host's clock and the file system's.
Ownership ownership_of(const std::filesystem::path& folder);

/// Makes this process the one owner of a folder, also on file systems of several hosts, on which
/// locks hold on one host only. It only needs exclusive creation of files (NFS since version 3).
///
/// claims/000001, 000002, ... in the folder each name a process; the highest one owns the folder.
/// They are never removed or renamed. An owner shows that it lives by counting in beat-<number>;
/// who finds it gone creates the next claim, in which only one process succeeds.
class FolderClaim {
 public:
  struct Times {
    std::chrono::seconds lease{120};  // without a sign of life after which an owner is gone
    std::chrono::seconds beat{15};    // between two signs of life
  };

  using Waiting = std::function<void()>;

  /// Takes over at once from an owner that has let go or has surely ended. Waits for one that runs
  /// on this host until it ends, and calls `waiting` before; watches one elsewhere for at most the
  /// lease. Throws NotTheOwner if an owner elsewhere is alive or a stop is asked for, and IoError.
  FolderClaim(
      const std::filesystem::path& folder, Times times, const Waiting& waiting = [] {});
  explicit FolderClaim(
      const std::filesystem::path& folder, const Waiting& waiting = [] {})
      : FolderClaim(folder, Times{}, waiting) {}
  /// Lets go, so that the next owner need not wait.
  ~FolderClaim();
  FolderClaim(const FolderClaim&) = delete;
  FolderClaim& operator=(const FolderClaim&) = delete;

  /// Throws NotTheOwner if another process has taken over, for example because this one was stopped
  /// for longer than the lease. To be called before every write into the folder.
  void check() const;

 private:
  std::string owner(int64_t number) const;
  /// The owner of claim `number`: ended, running in sight, or out of sight.
  enum class Owner { gone, here, elsewhere };
  Owner find(int64_t number, OwnerWatch& watch) const;
  bool create(int64_t number);
  void keep_beating(const std::stop_token& stop);
  void write_beat(const std::string& sign) const;

  std::filesystem::path claims_;
  Times times_;
  int64_t number_ = 0;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread beats_;
};

}  // namespace ablate::training
