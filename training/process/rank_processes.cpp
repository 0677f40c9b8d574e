#include "training/process/rank_processes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace ablate::training {
namespace {

std::vector<std::string> environment_of(int64_t rank, int64_t size,
                                        const std::filesystem::path& file) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  variables.push_back("RANK=" + std::to_string(rank));
  variables.push_back("WORLD_SIZE=" + std::to_string(size));
  variables.push_back(std::string(kRankFile) + "=" + file.string());
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Removes existing files; another process of this run may leave some behind when it is killed.
void remove_files_of(const std::filesystem::path& prefix) {
  const auto begin = prefix.filename().string() + ".";
  std::error_code error;
  for (std::filesystem::directory_iterator entry(prefix.parent_path(), error), end;
       !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(begin)) {
      std::error_code none;
      std::filesystem::remove_all(entry->path(), none);
    }
}

}  // namespace

RankProcesses::RankProcesses(const std::vector<std::string>& command, int64_t size,
                             const std::filesystem::path& file)
    : file_(file) {
  auto words = command;
  auto arguments = pointers(words);
  const pid_t parent = getpid();
  for (int64_t rank = 1; rank < size; ++rank) {
    auto variables = environment_of(rank, size, file);
    auto environment = pointers(variables);
    const pid_t process = fork();
    if (process < 0)
      throw std::system_error(errno, std::generic_category(), "cannot start another rank");
    if (process == 0) {  // only async-signal-safe functions
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() == parent) execve(arguments[0], arguments.data(), environment.data());
      _exit(127);
    }
    processes_.push_back(process);
  }
}

RankProcesses::~RankProcesses() {
  for (const auto process : processes_) kill(process, SIGKILL);
  wait();
  remove_files_of(file_);
}

std::string RankProcesses::lost() const {
  for (size_t i = 0; i < processes_.size(); ++i) {
    siginfo_t end{};
    waitid(P_PID, static_cast<id_t>(processes_[i]), &end, WEXITED | WNOHANG | WNOWAIT);
    if (end.si_pid != 0)
      return "rank " + std::to_string(i + 1) + " ended with " +
             (end.si_code == CLD_EXITED ? "exit code " : "signal ") + std::to_string(end.si_status);
  }
  return {};
}

void RankProcesses::wait() {
  for (const auto process : processes_)
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) continue;
  processes_.clear();
}

}  // namespace ablate::training
