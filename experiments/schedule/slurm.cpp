#include "experiments/schedule/slurm.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <functional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "experiments/errors.h"
#include "training/process/interrupt.h"
#include "training/storage/errors.h"

namespace ablate::schedule {
namespace {

constexpr int kTries = 6;             // 1 + 2 + 4 + 8 + 16 seconds apart
constexpr int64_t kArraySize = 1001;  // Slurm's own default

/// Whether the controller may answer another time.
bool is_transient(const std::string& error) {
  constexpr std::array<std::string_view, 6> kSigns{"timed out",          "Unable to contact",
                                                   "Connection refused", "Transport endpoint",
                                                   "Zero Bytes",         "temporarily"};
  return std::ranges::any_of(
      kSigns, [&](std::string_view sign) { return error.find(sign) != std::string::npos; });
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \n"), last = text.find_last_not_of(" \n");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

void pause(int tries) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1 << tries);
  while (std::chrono::steady_clock::now() < end) {
    if (training::stop_requested())
      throw training::Interrupted("interrupted while Slurm was asked");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

/// A file without a name that a program writes one of its streams to.
class Capture {
 public:
  explicit Capture(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  ~Capture() { close(descriptor_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  int descriptor() const { return descriptor_; }

  std::string text() const {
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0;
         (got = pread(descriptor_, buffer, sizeof buffer, static_cast<off_t>(all.size()))) > 0;)
      all.append(buffer, static_cast<size_t>(got));
    return all;
  }

 private:
  int descriptor_;
};

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The exit code and the output of a program.
struct CommandResult {
  int exit_code = 0;  // 128 + the signal if one ended it
  std::string output, error;
};

/// Runs a program from PATH, without a shell, and waits for its end. Throws UsageError if there is
/// no such program.
CommandResult run_command(const std::vector<std::string>& words) {
  const Capture output("output"), error("error");
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.descriptor(), STDERR_FILENO);
  pid_t process = 0;
  const int failure =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw UsageError(words.front() + " cannot be started (" + std::strerror(failure) +
                     "); is it installed and in PATH?");
  const int code = wait_for(process);
  return {code, output.text(), error.text()};
}

/// The standard output of a successful command; repeats it while failures are transient and
/// `before_another` returns false.
std::string ask(
    const std::vector<std::string>& words,
    const std::function<std::string()>& before_another = [] { return ""; }) {
  for (int tries = 0;; ++tries) {
    const auto result = run_command(words);
    if (result.exit_code == 0) return result.output;
    const auto failure = fmt::format("{} ended with exit code {}: {}", words.front(),
                                     result.exit_code, trimmed(result.error));
    if (!is_transient(result.error)) throw UsageError(failure);
    if (tries + 1 == kTries) throw training::IoError(failure);
    pause(tries);
    if (auto done = before_another(); !done.empty()) return done;
  }
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '|');) fields.push_back(field);
  return fields;
}

int64_t number_or(const std::string& text, int64_t otherwise) {
  int64_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::vector<std::string> slurm::flags_in(const std::string& text) {
  std::vector<std::string> words;
  char quote = 0;
  bool within = false;  // a word
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!within && !blank) words.emplace_back();
    within = quote != 0 || !blank;
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    else if (within)
      words.back() += c;
  }
  if (quote != 0) throw UsageError(fmt::format("--slurm: a {} is not closed in {}", quote, text));
  return words;
}

std::vector<QueuedJob> slurm::queue(const std::string& prefix) {
  const auto text = ask({"squeue", "--me", "--noheader", "--array", "--format=%F|%K|%T|%N|%r|%j"});
  std::vector<QueuedJob> jobs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto fields = fields_of(line);
    if (fields.size() < 6 || !fields[5].starts_with(prefix)) continue;
    const auto task = number_or(fields[1], -1);
    jobs.push_back({.id = task < 0 ? fields[0] : fmt::format("{}_{}", fields[0], task),
                    .array = fields[0],
                    .task = task,
                    .name = trimmed(fields[5]),
                    .state = fields[2],
                    .node = fields[3],
                    .reason = fields[4]});
  }
  return jobs;
}

std::string slurm::submit(const Submission& submission) {
  std::vector<std::string> words{"sbatch", "--parsable"};
  words.insert(words.end(), submission.flags.begin(), submission.flags.end());
  words.push_back("--job-name=" + submission.name);
  words.insert(words.end(), submission.script.begin(), submission.script.end());
  const auto answer = ask(words, [&] {
    for (const auto& job : queue(submission.name))
      if (job.name == submission.name) return job.array;
    return std::string();
  });
  return trimmed(answer.substr(0, answer.find(';')));  // a cluster's name may follow
}

void slurm::cancel(const std::vector<std::string>& jobs) {
  if (jobs.empty()) return;
  std::vector<std::string> words{"scancel"};
  words.insert(words.end(), jobs.begin(), jobs.end());
  ask(words);
}

int64_t slurm::most_tasks() {
  std::istringstream lines(ask({"scontrol", "show", "config"}));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("MaxArraySize"))
      return std::max<int64_t>(1, number_or(trimmed(line.substr(line.find('=') + 1)), kArraySize));
  return kArraySize;
}

}  // namespace ablate::schedule
