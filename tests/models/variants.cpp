#include "tests/models/variants.h"

#include <map>
#include <memory>

#include "experiments/config/schema/layer_changes.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/yaml/document.h"

namespace ablate::models {
namespace {

using config::Value;

constexpr const char* kTiny =
    "d_model: 16, layers: 2, attention: {heads: 2}, feed_forward: {d_hidden: 24}, dropout: 0";

/// The keys of "layers: 3, attention.heads: 4" as a mapping.
Value parsed(const std::string& keys) {
  config::ProblemList problems;
  const auto source = std::make_shared<config::Source>("a model", "{" + keys + "}");
  auto value = nested(parse_mapping(source, problems), problems);
  problems.raise();
  return value;
}

/// The tiny model under these mappings, read as a study's `model` is; no rule is applied.
TransformerOptions model_of(const std::vector<Value>& mappings) {
  static const auto smallest = parsed(kTiny);
  config::ProblemList problems;
  config::Tree tree{.root = {.type = Value::Type::mapping, .mark = smallest.mark}};
  const auto lay = [&](const Value& given) {
    config::Reader(config::experiment_schema(), problems)
        .lay({.type = Value::Type::mapping,
              .entries = {{"model", given.mark, given}},
              .mark = given.mark},
             options::slot_of(config::Experiment{}), tree);
  };
  lay(smallest);
  for (const auto& given : mappings) lay(given);
  const auto made = decoded(tree, problems);
  problems.raise();
  return made.experiment.model;
}

std::vector<Variant> norms() {
  std::vector<Variant> all;
  for (const auto& [kind, kind_name] : names(NormKind{}))
    for (const auto& [placement, placement_name] : names(NormPlacement{})) {
      all.emplace_back(std::string(kind_name) + " " + std::string(placement_name), tiny());
      all.back().second.layer.norm = {.kind = kind, .placement = placement};
    }
  return all;
}

const std::map<std::string, std::vector<Variant>>& groups() {
  static const auto all = [] {
    std::map<std::string, std::vector<Variant>> read{{"norms", norms()}};
    config::ProblemList problems;
    const auto file = config::read_source(ABLATE_SOURCE "/tests/models/variants.yaml");
    for (const auto& group : parse_mapping(file, problems).entries)
      for (const auto& [name, mark, keys] : group.value.entries)
        read[group.key].emplace_back(name, model_of({keys}));
    problems.raise();
    return read;
  }();
  return all;
}

}  // namespace

TransformerOptions tiny(const std::string& keys, const std::string& more) {
  return model_of({parsed(keys), parsed(more)});
}

const std::vector<Variant>& variants(const std::string& group) { return groups().at(group); }

const std::vector<Variant>& variants() {
  static const auto all = [] {
    std::vector<Variant> joined;
    for (const auto& [name, group] : groups())
      joined.insert(joined.end(), group.begin(), group.end());
    return joined;
  }();
  return all;
}

}  // namespace ablate::models
