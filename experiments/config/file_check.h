#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "experiments/config/experiment.h"
#include "experiments/config/problem_list.h"
#include "experiments/config/reader.h"

namespace ablate::config {

/// Reports the files and folders that configurations name and that are not there, each once.
class FileCheck {
 public:
  /// `folder` is where relative paths start.
  explicit FileCheck(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  void add(const Experiment& experiment, const Trail& trail, ProblemList& problems);

 private:
  std::filesystem::path folder_;
  std::set<std::pair<std::string, std::string>> reported_;  // key, file
};

/// What to write instead of a path that begins with ~, which only a shell replaces: "; write
/// /home/u/x, since ~ ..."; empty for any other path.
std::string without_tilde(const std::string& path);

}  // namespace ablate::config
