#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/config/metric.h"

namespace ablate::config {

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

/// Every other arm is compared with `baseline`; in a study that tunes, every other tuned arm with
/// the tuned baseline.
struct Comparison {
  std::string baseline;  // one of the file's arms, or that at its best value
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
