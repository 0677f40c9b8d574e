#include "experiments/config/comparison.h"

#include <algorithm>

namespace ablate::config {

const std::string& metric_of(const Comparison& comparison, const std::string& task) {
  const auto found = comparison.metrics.find(task);
  return found == comparison.metrics.end() ? comparison.metric : found->second;
}

std::optional<double> margin_of(const Comparison& comparison, const std::string& task) {
  return metric_of(comparison, task) == comparison.metric ? comparison.margin : std::nullopt;
}

bool allows(const Comparison& comparison, Uneven uneven) {
  return std::ranges::find(comparison.allow, uneven) != comparison.allow.end();
}

}  // namespace ablate::config
