#include "experiments/config/schema/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/config/schema/layer_path.h"

namespace ablate::config {
namespace {

/// A rule that several layers break because of the same value.
struct LayerRule {
  Mark mark;
  std::string key, why;
  bool by_model = false;  // the model's layer breaks it, too
  std::vector<NumberedLayer> layers;

  RuleProblem problem(const models::TransformerOptions& model) const {
    const auto counted = [&](models::Side side) {
      return std::ranges::count(layers, side, &NumberedLayer::first);
    };
    const auto all = [&](models::Side side) {
      return counted(side) > 0 && counted(side) == std::ssize(models::list_of(model, side));
    };
    const bool reads = all(models::Side::encoder), writes = all(models::Side::decoder);
    if (by_model || (reads && writes)) return {mark, fmt::format("model.{} {}", key, why)};
    if (reads && counted(models::Side::decoder) == 0)
      return {mark, fmt::format("model.encoder.{} {}", key, why)};
    if (writes && counted(models::Side::encoder) == 0)
      return {mark, fmt::format("model.decoder.{} {}", key, why)};
    return {mark, fmt::format("model.{} {} ({})", key, why, text_of(layers))};
  }
};

/// The path of the value that decides: `path`, or the model's if no change selects its layer.
std::string deciding(const std::string& path, const Tree& tree) {
  const auto layer = parse_layer_path(path);
  if (!layer || tree.has(section_of(layer->side, layer->number))) return path;
  return layer->key.empty() ? "model" : join_path("model", layer->key);
}

/// The rule, moved to the section whose value decides it.
BrokenRule decided(const BrokenRule& rule, const Tree& tree) {
  const auto path = deciding(join_path(rule.section, rule.key), tree);
  const auto section = deciding(rule.section, tree);
  return {section, section.empty() ? path : path.substr(section.size() + 1), rule.why};
}

using options::Type;

/// The broken rules of the structs in a member.
void collect_in(const Type& type, const void* slot, const std::string& path,
                std::vector<BrokenRule>& broken) {
  if (type.is<models::SideLayers>())
    for (size_t i = 0; i < type.size(slot); ++i)
      collect_in(*type.element, options::element_of(type, slot, i),
                 join_path(path, std::to_string(i + 1)), broken);
  else if (type.kind == Type::Kind::variant)
    collect_broken_rules(options::held(type, slot), path, broken);
  else if (type.kind == Type::Kind::record)
    collect_broken_rules({type.records[0], slot}, path, broken);
}

}  // namespace

void collect_broken_rules(const options::ConstSlot& options, const std::string& path,
                          std::vector<BrokenRule>& broken) {
  const auto require = [&](bool holds, std::string_view key, std::string_view why) {
    BrokenRule rule{path, std::string(key), std::string(why)};
    // Encoder and decoder may break the same rule of a shared option.
    if (!holds && std::ranges::find(broken, rule) == broken.end())
      broken.push_back(std::move(rule));
  };
  check(options, require);
  for (const auto& field : options.record->fields)
    collect_in(*field.type, options.at(field), join_path(path, field.name), broken);
}

std::vector<RuleProblem> rule_problems(const models::TransformerOptions& model,
                                       const std::vector<BrokenRule>& broken, const Tree& tree) {
  std::vector<LayerRule> rules;
  std::vector<RuleProblem> problems;
  for (const auto& rule : broken) {
    const auto own = decided(rule, tree);
    if (follows_from_failure(own, tree)) continue;
    const auto path = join_path(own.section, own.key);
    const auto layer = parse_layer_path(path);
    if (!layer && !path.starts_with("model.")) {
      problems.push_back({tree.place(path), fmt::format("{} {}", path, rule.why)});
      continue;
    }
    LayerRule one{.mark = tree.place(path),
                  .key = layer ? layer->key : path.substr(path.find('.') + 1),
                  .why = rule.why,
                  .by_model = !layer,
                  .layers = {}};
    auto same = std::ranges::find_if(rules, [&](const auto& other) {
      return other.mark == one.mark && other.key == one.key && other.why == one.why;
    });
    if (same == rules.end()) same = rules.insert(same, one);
    same->by_model = same->by_model || one.by_model;
    if (layer) same->layers.emplace_back(layer->side, layer->number);
  }
  for (const auto& rule : rules) problems.push_back(rule.problem(model));
  return problems;
}

bool follows_from_failure(const BrokenRule& rule, const Tree& tree) {
  const auto path = join_path(rule.section, rule.key);
  return std::ranges::any_of(tree.failed(), [&](const std::string& failed) {
    const bool inside = path == failed || path.starts_with(failed + ".");
    const bool mentioned = failed.starts_with(rule.section + ".") &&
                           rule.why.find(last_key(failed)) != std::string::npos;
    return inside || mentioned || failed.empty();
  });
}

}  // namespace ablate::config
