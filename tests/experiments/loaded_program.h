#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/folder.h"

namespace ablate {

/// A shell's command that only begins a program in a folder.
struct PlainCommand {
  std::vector<std::string> words;  // the program and its arguments
  std::string folder;              // of the caller if empty
  bool merged = false;             // standard error is part of standard output
};

/// The words of a text, without their quotes. Empty if a shell might do more than split the text.
inline std::optional<std::vector<std::string>> plain_words(const std::string& text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (const char c : text + " ") {
    if (c == '\\' || c == '$' || c == '`' || c == '\n') return std::nullopt;
    if (quote == 0 && std::strchr("|&;<>()*?~#", c) != nullptr) return std::nullopt;
    if (quote == 0 && c == ' ') {
      if (word) words.push_back(*word);
      word.reset();
      continue;
    }
    if (!word) word.emplace();
    if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = 0;
    else
      *word += c;
  }
  return quote == 0 ? std::optional(words) : std::nullopt;
}

inline std::optional<PlainCommand> plain_command(std::string text) {
  static const std::string kMerged = " 2>&1", kFolder = "cd ", kThen = " && ";
  PlainCommand command;
  if (text.ends_with(kMerged)) {
    command.merged = true;
    text.resize(text.size() - kMerged.size());
  }
  if (const auto end = text.find(kThen); text.starts_with(kFolder) && end != std::string::npos) {
    command.folder = text.substr(kFolder.size(), end - kFolder.size());
    text.erase(0, end + kThen.size());
  }
  const auto words = plain_words(text);
  if (!words || words->empty()) return std::nullopt;
  command.words = *words;
  return command;
}

/// A program that is loaded once and then begins for each command in a copy of that process:
/// loading LibTorch takes longer than most commands (tests/faults/server.c).
class LoadedProgram {
 public:
  LoadedProgram(const std::string& program, const std::string& server) : known_(variables()) {
    std::array<int, 2> requests{}, answers{};
    if (pipe2(requests.data(), O_CLOEXEC) != 0 || pipe2(answers.data(), O_CLOEXEC) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      dup2(requests[0], STDIN_FILENO);
      dup2(answers[1], STDOUT_FILENO);
      const char* others = getenv("LD_PRELOAD");
      setenv("LD_PRELOAD", (server + ":" + (others == nullptr ? "" : others)).c_str(), 1);
      setenv("FAULTS_SAID", said().c_str(), 1);
      execl(program.c_str(), program.c_str(), nullptr);
      _exit(127);
    }
    close(requests[0]), close(answers[1]);
    requests_ = requests[1], answers_ = answers[0];
  }
  ~LoadedProgram() {
    close(requests_);
    waitpid(process_, nullptr, 0);
    close(answers_);
  }
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  /// The status of a command's process, as waitpid gives it, once it has ended.
  int run(const PlainCommand& command) {
    auto now = variables();
    for (const auto& before : known_)
      if (const auto name = before.substr(0, before.find('=')); getenv(name.c_str()) == nullptr)
        now.insert(name);
    now.insert(command.folder.empty() ? "FAULTS_FOLDER" : "FAULTS_FOLDER=" + command.folder);
    now.insert(command.merged ? "FAULTS_ERRORS" : "FAULTS_ERRORS=apart");
    std::string bytes;
    for (const auto& variable : now) bytes += variable + '\0';
    for (const auto& word : command.words) bytes += word + '\0';
    const std::array<uint32_t, 3> numbers{1, static_cast<uint32_t>(now.size()),
                                          static_cast<uint32_t>(bytes.size())};
    bytes.insert(0, reinterpret_cast<const char*>(numbers.data()), sizeof numbers);
    int status = 0;
    const auto asked = write(requests_, bytes.data(), bytes.size());
    const auto answered = read(answers_, &status, sizeof status);
    EXPECT_TRUE(asked == std::ssize(bytes) && answered == sizeof status)
        << "the loaded program has ended";
    return status;
  }
  /// The file with the output of the last command.
  std::string said_by_last() const { return said() + "0"; }

 private:
  static std::set<std::string> variables() {
    std::set<std::string> all;
    for (char** variable = environ; *variable != nullptr; ++variable) all.insert(*variable);
    return all;
  }
  std::string said() const { return folder_.path / "said"; }

  const Folder folder_;
  const std::set<std::string> known_;
  pid_t process_ = -1;
  int requests_ = -1, answers_ = -1;
};

}  // namespace ablate
