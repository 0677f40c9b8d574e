#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// The resolved configuration as YAML, every value written out. A path in `origins` gets its origin
/// as a comment.
std::string to_yaml(const Experiment& experiment,
                    const std::map<std::string, std::string>& origins = {});

/// Reads the output of to_yaml; the round trip is exact. Throws ConfigError.
Experiment read_experiment(const std::filesystem::path& file);
Experiment read_experiment(const std::shared_ptr<const Source>& source);

/// A value that differs; `left` or `right` is empty if that side has no such path.
struct Difference {
  std::string path;
  std::string left;
  std::string right;

  bool operator==(const Difference&) const = default;
};

std::vector<Difference> differences(const Experiment& left, const Experiment& right);

/// One line `path=value` for each value, in a fixed order: equal texts mean equal experiments.
std::string canonical(const Experiment& experiment);

}  // namespace ablate::config
