#include "experiments/config/study/cost_target.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/config/study/claim_check.h"

namespace ablate::config {
namespace {

const std::vector<std::string> kTargetMetrics{"validation_perplexity", "validation_token_accuracy"};

std::optional<Target> read_value(const Entry& entry, ProblemList& problems) {
  if (!require_known(entry.key, kTargetMetrics, {"metric", "compare.cost_to", entry.mark},
                     problems))
    return {};
  const auto& metric = *find_metric(entry.key);
  const auto value = parse_number(entry.value).value;
  if (!value || *value < metric.low || *value > metric.high) {
    problems.add(entry.value.mark,
                 fmt::format("compare.cost_to.{} must be {}", metric.name,
                             std::isfinite(metric.high)
                                 ? fmt::format("between {} and {}", metric.low, metric.high)
                                 : fmt::format("a number from {} on", metric.low)));
    return {};
  }
  return Target{metric.name, *value};
}

}  // namespace

std::optional<Target> read_target(const Value& section, ProblemList& problems) {
  if (section.type == Value::Type::scalar && section.scalar == "baseline")
    return Target{"validation_loss", {}};
  if (section.type == Value::Type::mapping && section.entries.size() == 1)
    return read_value(section.entries.front(), problems);
  problems.add(section.mark,
               "compare.cost_to must be baseline or have one value to reach, such as "
               "{validation_perplexity: 5} or {validation_token_accuracy: 0.9}");
  return {};
}

void check_validated(const Experiment& experiment, const Tree& tree, ProblemList& problems) {
  if (experiment.training.trains() && experiment.training.evaluate_every == 0)
    problems.add(tree.place("training.evaluate_every"),
                 "compare.cost_to needs validations during training; set training.evaluate_every, "
                 "such as a tenth of the steps");
}

}  // namespace ablate::config
