#include "experiments/run/tracking.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/config/leaf.h"
#include "experiments/config/printer.h"
#include "tokenizer/digest.h"

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
  for (const auto& test : result.tests) {
    const auto add = [&](const char* score, double value) {
      if (std::isfinite(value))
        scalars.push_back({fmt::format("test/{}/{}", test.name, score), value});
    };
    if (test.compared != data::Compared::nothing) add("exact_match", test.exact_match);
    if (test.compared == data::Compared::text) {
      add("bleu", test.bleu);
      add("chrf", test.chrf);
    }
    add("token_accuracy", test.token_accuracy);
    add("perplexity", test.perplexity);
    add("nats_per_character", test.nats_per_character);
  }
  return scalars;
}

}  // namespace ablate::run
