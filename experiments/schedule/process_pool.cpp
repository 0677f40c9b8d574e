#include "experiments/schedule/process_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "experiments/schedule/worker.h"
#include "training/process/interrupt.h"
#include "training/process/progress.h"

namespace ablate::schedule {
namespace {

constexpr size_t kLongestOutputLine = 1 << 16;
// A process ends after its pipe has closed, and its end does not wake poll().
constexpr std::chrono::milliseconds kLookForEnds{20};
// How often an OpenMP thread spins before it sleeps while it waits for another one. The default of
// 300,000, some milliseconds, is fastest if each thread has its own processor; beside other runs it
// takes the processor from the thread that it waits for. 1,000 times is what libgomp itself chooses
// for more threads than processors.
constexpr const char* kSpinCount = "GOMP_SPINCOUNT=1000";

[[noreturn]] void fail_with_errno(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

/// The child's part of spawn(); calls only async-signal-safe functions.
[[noreturn]] void become(char* const* arguments, char* const* environment, int output,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool orphan = getppid() != parent;  // the parent ended before the line above
  if (!orphan && dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0)
    execve(arguments[0], arguments, environment);
  _exit(127);
}

/// This process's environment with the spin count of OpenMP, unless it is set already.
std::vector<char*> environment_of_child() {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  if (std::getenv("GOMP_SPINCOUNT") == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr)
    variables.push_back(const_cast<char*>(kSpinCount));
  variables.push_back(nullptr);
  return variables;
}

/// Starts the program with `output` as its standard output and error.
pid_t spawn(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const auto environment = environment_of_child();
  const pid_t parent = getpid();
  const bool can_start = access(arguments[0], X_OK) == 0;
  const pid_t process = can_start ? fork() : -1;
  if (process < 0) fail_with_errno(errno, "cannot start a run");
  if (process == 0) become(arguments.data(), environment.data(), output, parent);
  return process;
}

}  // namespace

ProcessPool::~ProcessPool() {
  for (const auto& [id, process] : processes_) {
    kill(id, SIGKILL);
    waitpid(id, nullptr, 0);
    close(process.output);
  }
}

void ProcessPool::start(size_t job, const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_with_errno(errno, "cannot make a pipe");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  try {
    processes_[spawn(arguments, ends[1])] = {.job = job, .output = ends[0]};
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
}

void ProcessPool::read(Process& process, std::vector<ProcessEvent>& events) {
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(process.output, buffer, sizeof buffer)) > 0)
    for (const char byte : std::string_view(buffer, static_cast<size_t>(got))) {
      if (byte != '\n') process.begun += byte;
      if (byte != '\n' && process.begun.size() < kLongestOutputLine) continue;
      events.emplace_back(ProcessLine{process.job, std::move(process.begun)});
      process.begun.clear();
    }
  process.closed = got == 0;
}

std::vector<ProcessEvent> ProcessPool::wait(std::chrono::milliseconds longest) {
  std::vector<ProcessEvent> events;
  const auto end = std::chrono::steady_clock::now() + longest;
  do {
    std::vector<pollfd> outputs;
    for (const auto& [id, process] : processes_)
      outputs.push_back({process.closed ? -1 : process.output, POLLIN, 0});
    poll(outputs.data(), outputs.size(), static_cast<int>(std::min(longest, kLookForEnds).count()));
    for (auto& [id, process] : processes_) read(process, events);
    for (auto one = processes_.begin(); one != processes_.end();) {
      int status = 0;
      const pid_t ended = waitpid(one->first, &status, WNOHANG);
      if (ended == 0 || (ended < 0 && errno == EINTR)) {
        ++one;
        continue;
      }
      if (ended < 0) fail_with_errno(errno, "cannot wait for a run");
      auto& process = one->second;
      read(process, events);
      if (!process.begun.empty())
        events.emplace_back(ProcessLine{process.job, std::move(process.begun)});
      events.emplace_back(ProcessEnd{
          process.job, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)});
      close(process.output);
      one = processes_.erase(one);
    }
  } while (events.empty() && !processes_.empty() && std::chrono::steady_clock::now() < end);
  return events;
}

void ProcessPool::stop() const {
  for (const auto& [id, process] : processes_) kill(id, SIGTERM);
}

namespace {

constexpr std::chrono::milliseconds kLookForStops{200};

/// Waits for the only process of the pool and returns how it ended.
Attempts::End follow(ProcessPool& pool, Attempts& attempts, std::ostream& messages) {
  for (bool asked = false;;) {
    if (training::stop_requested()) {
      if (!std::exchange(asked, true)) messages << "asked to stop\n" << std::flush;
      pool.stop();
    }
    for (const auto& event : pool.wait(kLookForStops)) {
      if (const auto* end = std::get_if<ProcessEnd>(&event)) return attempts.end(end->exit_code);
      const auto& line = std::get<ProcessLine>(event).text;
      if (training::read_record(line)) continue;
      attempts.on_output_line(line);
      messages << line + "\n" << std::flush;
    }
  }
}

}  // namespace

void supervise(const records::RunFolder& folder, const Worker& worker, int64_t retries,
               std::ostream& messages) {
  const training::StopRequests requests;
  const auto before = records::read_failure(folder);
  Attempts attempts(folder, {.retries = retries, .made = before ? before->attempts : 0});
  for (;;) {
    ProcessPool pool;
    pool.start(0, attempts.begin(worker));
    switch (follow(pool, attempts, messages)) {
      case Attempts::End::finished:
        return;
      case Attempts::End::interrupted:
        throw training::Interrupted("interrupted and saved in " + folder.path.string());
      case Attempts::End::failed:
        throw RunsFailed(meaning_of(attempts.exit_code()),
                         folder.path.string() + " failed with " + attempts.reason(true));
      case Attempts::End::crashed:
        messages << "starting again after " + attempts.reason(true) + "\n" << std::flush;
    }
  }
}

}  // namespace ablate::schedule
