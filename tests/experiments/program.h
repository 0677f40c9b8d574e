#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace ablate {

inline const std::string kProgram = std::string(ABLATE_BUILD) + "/ablate";

/// What can be read of it: a file in /proc ends with its process.
inline std::string read_file(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
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
  int code = 0;
  std::string output;  // standard output, and standard error where the command says 2>&1
};

inline Outcome shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.output.append(buffer, got);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// Starts a command in a process group of its own, with nothing on standard output.
inline pid_t start_process(const std::string& command) {
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    freopen("/dev/null", "w", stdout);
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
    std::string pattern = testing::TempDir() + "ablate-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    write_file(study(), read_file(std::string(ABLATE_SOURCE) + "/tests/experiments/tiny.yaml"));
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path study() const { return folder_ / "tiny.yaml"; }
  std::filesystem::path run(const std::string& output) const {
    return folder_ / output / "tiny/copy/base/seed-1";
  }
  std::string command(const std::string& output, const std::string& more = "") const {
    return kProgram + " run " + study().string() + " --output " + (folder_ / output).string() +
           " " + more + " 2>&1";
  }

  std::filesystem::path folder_;
};

}  // namespace ablate
