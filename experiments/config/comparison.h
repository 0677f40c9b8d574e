#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ablate::experiments {

/// In what arms that are compared may differ beside the keys that the study changes.
enum class Uneven { seeds, steps, data };

constexpr auto names(Uneven) {
  return std::to_array<std::pair<Uneven, std::string_view>>(
      {{Uneven::seeds, "seeds"}, {Uneven::steps, "steps"}, {Uneven::data, "data"}});
}

/// Every other arm is compared with `baseline`.
struct Comparison {
  std::string baseline;
  std::string metric;
  std::map<std::string, std::string> metrics;  // of tasks that have another one
  std::vector<Uneven> allow;
};

/// The metric that the arms of `task` are compared by.
const std::string& metric_of(const Comparison& comparison, const std::string& task);

bool allows(const Comparison& comparison, Uneven uneven);

/// The metrics that arms can be compared by.
const std::vector<std::string>& metrics();

}  // namespace ablate::experiments
