#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/config/yaml/problem.h"

namespace ablate {

// Beginnings of studies that tests go on with.
inline const std::string kHead = "name: s\nseeds: [1]\n";
inline const std::string kBase = kHead + "base:\n  data: {task: copy}\n";
inline const std::string kModel = kBase + "  model: ";
inline const std::string kTraining = kBase + "  training: ";

struct MessageCase {
  std::string name;
  std::string yaml;
  std::string messages;
  std::vector<std::string> sets = {};
};

/// A file that exists as long as the object; its folder is its own.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text, const std::string& name = "study.yaml") {
    std::string pattern = testing::TempDir() + "config-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ / name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_, path_;
};

inline config::Study study_of(const std::string& yaml, const config::Selection& selection = {}) {
  const TemporaryFile file(yaml);
  return config::read_study(file.path(), selection);
}

/// The run of one task and arm with the study's first seed.
inline config::RunSpecification run_of(const std::string& yaml, const std::string& arm,
                                       const config::Selection& selection = {}) {
  for (const auto& run : study_of(yaml, selection).runs)
    if (run.arm == arm) return run;
  ADD_FAILURE() << "no arm " << arm;
  return {};
}

/// The whole error text, the file called study.yaml.
inline std::string error_of(const std::string& yaml, const config::Selection& selection = {}) {
  const TemporaryFile file(yaml);
  try {
    config::read_study(file.path(), selection);
  } catch (const config::ConfigError& error) {
    std::string text = error.what();
    const auto folder = file.folder().string() + "/";
    for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
    return text;
  }
  return "";
}

/// The lines of the error text that begin with a position.
inline std::string messages_of(const std::string& yaml, const config::Selection& selection = {}) {
  const TemporaryFile file(yaml);
  std::string text;
  try {
    config::read_study(file.path(), selection);
  } catch (const config::ConfigError& error) {
    for (const auto& problem : error.problems) {
      const bool on_command_line = problem.file.starts_with("--");
      text += fmt::format("{}{}", text.empty() ? "" : "\n",
                          on_command_line ? problem.file : "study.yaml");
      if (problem.line > 0) text += fmt::format(":{}:{}", problem.line, problem.column);
      text += fmt::format(": {}", problem.message);
    }
  }
  return text;
}

}  // namespace ablate
