#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/experiments/program.h"
#include "tests/training/storage/waiting_lock.h"
#include "training/storage/durable_file.h"

namespace ablate {

/// Waits until `condition` holds, and tells whether it does after ten minutes at most, in which any
/// machine gets there. The pause decides nothing: it leaves the processor to what is waited for.
template <class Condition>
bool eventually(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// How a process of start_process() ends: its exit code, or 128 + the signal that ended it. One
/// that does not end by itself is killed, with its process group.
inline int end_of(pid_t process) {
  int status = 0;
  if (!eventually([&] { return waitpid(process, &status, WNOHANG) != 0; })) {
    kill(-process, SIGKILL);
    waitpid(process, &status, 0);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// While it lives, a run waits where it would save or remove a checkpoint.
class HeldBeforeSaving {
 public:
  explicit HeldBeforeSaving(const std::filesystem::path& run) : lock_(made(run / "checkpoints")) {}

 private:
  static std::filesystem::path made(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    return folder;
  }
  training::FolderLock lock_;
};

/// Starts the command, which works on the run, and asks it to stop before it saves. How it ends.
inline int end_of_stopped(const std::string& command, const std::filesystem::path& run) {
  pid_t process = 0;
  {
    const HeldBeforeSaving held(run);
    process = start_process(command);
    if (!eventually([&] { return waits_for_a_lock(process); })) kill(process, SIGKILL);
    kill(process, SIGTERM);
  }
  return end_of(process);
}

/// A named pipe: who opens it for reading waits for a writer, which never writes anything.
class NamedPipe {
 public:
  explicit NamedPipe(const std::filesystem::path& path) : path_(path) {
    std::filesystem::create_directories(path.parent_path());
    mkfifo(path.c_str(), 0600);
  }
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;
  ~NamedPipe() {
    if (writer_ >= 0) close(writer_);
    std::filesystem::remove(path_);
  }

  /// Waits until some process has opened the pipe, and so waits for what it reads there.
  bool has_reader() {
    return eventually([&] {
      writer_ = open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      return writer_ >= 0;
    });
  }

 private:
  std::filesystem::path path_;
  int writer_ = -1;
};

}  // namespace ablate
