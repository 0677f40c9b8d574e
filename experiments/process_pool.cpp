#include "experiments/process_pool.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <stdexcept>
#include <system_error>

#include "training/interrupt.h"

namespace ablate::experiments {
namespace {

pid_t start(const Job& job) {
  std::vector<char*> arguments;
  for (const auto& argument : job.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error =
      posix_spawn(&process, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start a run");
  return process;
}

}  // namespace

void run_jobs(std::vector<Job>& jobs, int64_t parallel) {
  std::map<pid_t, size_t> running;
  size_t next = 0;
  bool passed_on = false;
  while (next < jobs.size() || !running.empty()) {
    const bool stop = training::stop_requested();
    while (!stop && next < jobs.size() && static_cast<int64_t>(running.size()) < parallel) {
      running[start(jobs[next])] = next;
      ++next;
    }
    if (stop && !passed_on)
      for (const auto& [process, job] : running) kill(process, SIGTERM);
    passed_on = stop;
    if (running.empty()) return;
    int status = 0;
    // A signal must be seen between two children, so the wait polls.
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended > 0 && running.contains(ended)) {
      jobs[running[ended]].exit_code =
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      running.erase(ended);
    } else if (ended == 0) {
      usleep(20'000);
    } else if (ended < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "cannot wait for a run");
    }
  }
}

int64_t available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

void end_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == 1) _exit(137);
}

}  // namespace ablate::experiments
