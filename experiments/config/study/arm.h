#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/config/schema/metric.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// A named set of changes to the base: a task or an arm. Later layers override earlier ones.
struct Variation {
  std::string name;
  Mark mark;
  std::vector<Value> layers;
};

std::vector<std::string> names_of(const std::vector<Variation>& variations);

/// The entries of `section` (tasks or arms), with dotted keys nested. `what` is "task" or "arm",
/// for messages.
std::vector<Variation> variations(const Value& section, const std::string& what,
                                  ProblemList& problems);

/// Every arm with every combination of the grid's values; the first key varies slowest. If there
/// are no arms, the combinations are the arms. Empty if a problem is reported.
std::vector<Variation> multiplied(const std::vector<Variation>& arms, const Value& grid,
                                  ProblemList& problems);

/// The regular expression of a name of a study, task or arm, which is also the name of a folder.
inline constexpr const char* kNamePattern = "^(?![.]{1,2}$)[A-Za-z0-9._=-]{1,100}$";

/// Reports a name that does not match kNamePattern.
void check_name(const std::string& name, const std::string& what, const Mark& mark,
                ProblemList& problems);

/// Ways in which compared arms may differ beside the keys that the study changes.
enum class Uneven { seeds, steps, data, hardware };

constexpr auto names(Uneven) {
  return std::to_array<std::pair<Uneven, std::string_view>>({{Uneven::seeds, "seeds"},
                                                             {Uneven::steps, "steps"},
                                                             {Uneven::data, "data"},
                                                             {Uneven::hardware, "hardware"}});
}

/// The curve that is fitted to the arms' values over their numbers of parameters.
enum class Fit { none, power };

constexpr auto names(Fit) {
  return std::to_array<std::pair<Fit, std::string_view>>(
      {{Fit::none, "none"}, {Fit::power, "power"}});
}

/// The suffix of an arm with the best value of the tuned key.
inline constexpr const char* kTunedSuffix = "-tuned";

/// An arm whose results are compared.
struct ComparedArm {
  std::string arm;     // its name in the file
  bool tuned = false;  // with the best value of the tuned key

  /// "a", "a-tuned"
  std::string name() const { return tuned ? arm + kTunedSuffix : arm; }
  bool operator==(const ComparedArm&) const = default;
};

/// Every other arm is compared with `baseline`; in a study that tunes, every other tuned arm with
/// the tuned baseline.
struct Comparison {
  ComparedArm baseline;
  std::string metric;
  std::map<std::string, std::string> metrics;                 // of tasks with a different metric
  std::map<std::string, std::vector<std::string>> test_sets;  // primary ones, by task
  std::optional<double> margin;  // smallest difference of `metric` that matters
  std::vector<Target> steps_to;
  std::vector<Uneven> allow;
  Fit fit = Fit::none;
};

/// The metric that the arms of `task` are compared by.
const std::string& metric_of(const Comparison& comparison, const std::string& task);

/// The margin of equivalence in `task`; absent if the task's metric is not the study's.
std::optional<double> margin_of(const Comparison& comparison, const std::string& task);

bool allows(const Comparison& comparison, Uneven uneven);

}  // namespace ablate::config
