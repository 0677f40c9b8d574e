#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "data/named_files.h"
#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/tree.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Reports files and folders of configurations that are missing, and files of data that are not of
/// the form in which they would be read, each once.
class FileCheck {
 public:
  /// Relative paths start at `folder`.
  explicit FileCheck(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  /// Adds each file that cannot be used, once; configurations with the same data share one look.
  void add(const Experiment& experiment, const Tree& tree, ProblemList& problems);

 private:
  const std::vector<data::NamedFile>& files_of(const data::DataOptions& options);
  std::string why_missing(const std::string& name) const;

  std::filesystem::path folder_;
  std::map<std::string, std::vector<data::NamedFile>> looked_at_;  // by the text of their options
  std::set<std::string> reported_;
};

/// A hint for a path that begins with ~, which only a shell expands: "; write /home/u/x, ...";
/// empty for all other paths.
std::string without_tilde(const std::string& path);

}  // namespace ablate::config
