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

/// A named set of changes to the base: a task or an arm. Later layers win.
struct Variation {
  std::string name;
  Mark mark;
  std::vector<Value> layers;
};

std::vector<std::string> names_of(const std::vector<Variation>& variations);

/// The entries of `section` (tasks or arms), with dotted keys nested. `what` names one of them in
/// messages.
std::vector<Variation> variations(const Value& section, const std::string& what,
                                  ProblemList& problems);

/// Every arm once for each combination of the grid's values, the first key varying slowest. Without
/// arms the combinations are the arms. None if a problem is reported instead.
std::vector<Variation> multiplied(const std::vector<Variation>& arms, const Value& grid,
                                  ProblemList& problems);

/// What the name of a study, task or arm must be, as a regular expression: it names a folder.
inline constexpr const char* kNamePattern = "^(?![.]{1,2}$)[A-Za-z0-9._=-]{1,100}$";

/// Reports a name that does not match kNamePattern.
void check_name(const std::string& name, const std::string& what, const Mark& mark,
                ProblemList& problems);

/// In what arms that are compared may differ beside the keys that the study changes.
enum class Uneven { seeds, steps, data, hardware };

constexpr auto names(Uneven) {
  return std::to_array<std::pair<Uneven, std::string_view>>({{Uneven::seeds, "seeds"},
                                                             {Uneven::steps, "steps"},
                                                             {Uneven::data, "data"},
                                                             {Uneven::hardware, "hardware"}});
}

/// What is fitted to the arms' values over their numbers of parameters.
enum class Fit { none, power };

constexpr auto names(Fit) {
  return std::to_array<std::pair<Fit, std::string_view>>(
      {{Fit::none, "none"}, {Fit::power, "power"}});
}

/// What the name of an arm with the best value of the tuned key ends in.
inline constexpr const char* kTunedSuffix = "-tuned";

/// An arm that results are compared of.
struct ComparedArm {
  std::string arm;     // as the file calls it
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
  std::map<std::string, std::string> metrics;                 // of tasks that have another one
  std::map<std::string, std::vector<std::string>> test_sets;  // primary ones, where named
  std::optional<double> margin;  // differences below this do not matter; of `metric`
  std::vector<Target> steps_to;
  std::vector<Uneven> allow;
  Fit fit = Fit::none;
};

/// The metric that the arms of `task` are compared by.
const std::string& metric_of(const Comparison& comparison, const std::string& task);

/// The margin of equivalence in `task`; none where its metric is another one than the study's.
std::optional<double> margin_of(const Comparison& comparison, const std::string& task);

bool allows(const Comparison& comparison, Uneven uneven);

}  // namespace ablate::config
