#include "experiments/run/tracking.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/config/leaf.h"
#include "experiments/config/printer.h"
#include "tokenizer/text/digest.h"

namespace ablate::run {
namespace {

/// A leaf's YAML as what TensorBoard can sort by.
std::variant<bool, double, std::string> parameter(const std::string& yaml) {
  const auto value = nlohmann::json::parse(yaml, nullptr, false);
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return yaml;
}

}  // namespace

training::Session session_of(const records::RunPlan& plan, const config::Experiment& experiment) {
  constexpr size_t kDigits = 8;  // tell apart what --set made of one arm in two output folders
  const auto digest = tokenizer::sha256(config::canonical(experiment)).substr(0, kDigits);
  training::Session session{
      .group = fmt::format("{}/{}/{} {}", plan.study, plan.task, plan.arm, digest),
      .parameters = {{"task", plan.task}, {"arm", plan.arm}}};
  std::vector<config::Leaf> leaves;
  config::collect_leaves(experiment, "", leaves);
  for (const auto& leaf : leaves)
    if (plan.given.contains(leaf.path)) session.parameters[leaf.path] = parameter(leaf.text);
  return session;
}

std::vector<training::Scalar> final_scalars(const records::RunResult& result) {
  std::vector<training::Scalar> scalars;
  for (const auto& test : result.tests)
    for (const auto& metric : config::metrics_on(test.compared))
      if (const double value = records::value_of(test, metric); std::isfinite(value))
        scalars.push_back({fmt::format("test/{}/{}", test.name, metric.name), value});
  return scalars;
}

}  // namespace ablate::run
