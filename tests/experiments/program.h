#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/experiments/loaded_program.h"
#include "tests/folder.h"
#include "tests/says.h"

namespace ablate {

inline const std::string kProgram = std::string(ABLATE_BUILD) + "/ablate";

/// What can be read of it: a file in /proc ends with its process.
inline std::string read_file(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline nlohmann::json read_json(const std::filesystem::path& file) {
  return nlohmann::json::parse(read_file(file));
}

inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> all;
  for (const auto& line : lines_of(text)) all.push_back(nlohmann::json::parse(line));
  return all;
}

/// The text of JSON records without what differs each time: seconds of training, and in a
/// checkpoint's state the length and digest of a log that has them.
inline std::string without_seconds(const std::string& json) {
  static const std::regex kVarying(R"re("(seconds|log_bytes|log_sha256)":[^,}]*)re");
  return std::regex_replace(json, kVarying, "");
}

/// A run's log without its seconds.
inline std::string log_of(const std::filesystem::path& run) {
  return without_seconds(read_file(run / "metrics.jsonl"));
}

/// The scores of a result.json, or of what `eval --json` prints, without how long decoding took.
inline nlohmann::json scores_in(const std::string& json) {
  auto tests = nlohmann::json::parse(json).at("tests");
  for (auto& test : tests) test.erase("decode_seconds");
  return tests;
}

/// What a command printed and how it ended.
struct Outcome {
  bool operator==(const Outcome&) const = default;

  int code = 0;
  std::string output;  // standard output, and standard error where the command says 2>&1
};

inline std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  return stream << "exit code " << outcome.code << "\n" << outcome.output;
}

/// Whether a command ended with this code and printed these words.
inline testing::AssertionResult ends(const Outcome& outcome, int code,
                                     const std::string& words = "") {
  if (outcome.code == code && outcome.output.find(words) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << outcome << "instead of exit code " << code << " with '" << words << "'";
}

/// The output of a command; a failed command is a failure of the test.
inline std::string output_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  return outcome.output;
}

inline Outcome outcome_of(int status, const std::string& output) {
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output};
}

/// The outcome of a command by a copy of the loaded program. Empty if the command needs a shell or
/// is of another program, and while the loaded one is busy.
inline std::optional<Outcome> loaded(const std::string& command) {
  static const std::string kServer = std::string(ABLATE_BUILD) + "/libserver.so";
  static const bool kServed = std::filesystem::exists(kServer);
  static std::mutex busy;
  const auto plain = plain_command(command);
  const std::unique_lock lock(busy, std::try_to_lock);
  if (!kServed || !lock || !plain || plain->words[0] != kProgram) return std::nullopt;
  static LoadedProgram program(kProgram, kServer);
  const int status = program.run(*plain);
  return outcome_of(status, read_file(program.said_by_last()));
}

inline Outcome shell(const std::string& command) {
  if (const auto outcome = loaded(command)) return *outcome;
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.append(buffer, got);
  return outcome_of(pclose(pipe), output);
}

/// What the program does with these words, each of which is text for a shell or a path.
template <class... Words>
Outcome program(const Words&... words) {
  auto command = kProgram;
  ((command += " " + std::filesystem::path(words).string()), ...);
  return shell(command);
}

/// Starts a command in a process group of its own, with nothing on standard output.
inline pid_t start_process(const std::string& command) {
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    if (freopen("/dev/null", "w", stdout) == nullptr) _exit(127);
    execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    _exit(127);
  }
  setpgid(process, process);
  return process;
}

/// A test with an empty folder and a tiny study in it.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    setenv("OMP_NUM_THREADS", "1", 1);
    write_file(study(), read_file(std::string(ABLATE_SOURCE) + "/tests/experiments/tiny.yaml"));
  }
  std::filesystem::path study() const { return folder_ / "tiny.yaml"; }
  /// Writes the study with `now` in the place of the first `before`.
  void change(const std::string& before, const std::string& now) const {
    write_file(study(), replaced(read_file(study()), before, now));
  }
  void append(const std::string& lines) const { write_file(study(), read_file(study()) + lines); }
  std::filesystem::path run(const std::string& output) const {
    return folder_ / output / "tiny/copy/base/seed-1";
  }
  /// The program with these words, in the test's folder.
  Outcome ablate(const std::string& words) const {
    return shell("cd " + folder_.string() + " && " + kProgram + " " + words + " 2>&1");
  }
  std::string command(const std::string& output, const std::string& more = "") const {
    return kProgram + " run " + study().string() + " --output " + (folder_ / output).string() +
           " " + more + " 2>&1";
  }
  /// Trains the one run of a study of this task, which has these lines below `base`, and gives the
  /// run's folder.
  std::filesystem::path trained(const std::string& task, const std::string& lines) const {
    const auto file = folder_ / (task + ".yaml");
    write_file(file, "name: " + task + "\nseeds: [1]\nbase:\n" + lines);
    EXPECT_TRUE(ends(program("run", file, "--output", folder_ / "runs", "2>&1"), 0));
    return folder_ / "runs" / task / task / "base/seed-1";
  }
  /// What the command leaves in an empty folder. Each study is trained once with the same flags;
  /// other tests get copies.
  void given_runs(const std::string& output, const std::string& more = "") const {
    static std::map<std::string, Folder> made;
    const auto& whole = made[read_file(study()) + more].path;
    if (std::filesystem::is_empty(whole)) {
      ASSERT_TRUE(ends(program("run", study(), "--output", whole, more, "2>&1"), 0));
    }
    std::filesystem::copy(whole, folder_ / output, std::filesystem::copy_options::recursive);
  }

  const Folder own_;
  const std::filesystem::path folder_ = own_.path;
};

}  // namespace ablate
