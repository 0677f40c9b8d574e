#include "experiments/config/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/yaml/suggestion.h"

namespace ablate::config {
namespace {

/// Calls `visit(section, key)` for every key below `schema`, once for each alternative that has it.
template <class Visit>
void for_each_key(const Schema& schema, const std::string& path, const Visit& visit) {
  if (schema.type == Schema::Type::variant) {
    visit(path, schema.discriminator);
    for (const auto& alternative : schema.children) for_each_key(alternative, path, visit);
  } else if (schema.type == Schema::Type::record) {
    for (const auto& child : schema.children) {
      visit(path, child.name);
      for_each_key(child, join_path(path, child.name), visit);
    }
  }
}

/// The paths of the keys that `wanted` accepts, each once.
template <class Wanted>
std::vector<std::string> distinct_paths(const Schema& schema, const Wanted& wanted) {
  std::vector<std::string> paths;
  std::set<std::string> seen;
  for_each_key(schema, "", [&](const std::string& section, const std::string& key) {
    if (!wanted(key)) return;
    auto path = join_path(section, key);
    if (seen.insert(path).second) paths.push_back(std::move(path));
  });
  return paths;
}

/// The words for a value of a type and for several of them.
struct TypeWords {
  Schema::Type type;
  std::string_view one, several;
};

constexpr auto kTypeWords = std::to_array<TypeWords>({
    {Schema::Type::boolean, "true or false", "values"},
    {Schema::Type::integer, "integer", "integers"},
    {Schema::Type::number, "number", "numbers"},
    {Schema::Type::text, "text", "texts"},
    {Schema::Type::record, "mapping", "mappings"},
    {Schema::Type::other, "mapping", "values"},
});

std::string plural_text(const Schema& element) {
  if (element.type == Schema::Type::choice) return "words: " + alternatives(element.choices);
  const auto* words = std::ranges::find(kTypeWords, element.type, &TypeWords::type);
  return std::string(words == kTypeWords.end() ? "values" : words->several);
}

}  // namespace

const Schema* Schema::find(std::string_view key) const {
  const auto found = std::ranges::find(children, key, &Schema::name);
  return found == children.end() ? nullptr : &*found;
}

std::vector<const Schema*> nodes_at(const Schema& schema, std::string_view path) {
  if (path.empty()) return {&schema};
  if (schema.type == Schema::Type::list) return nodes_at(schema.children[0], path);
  if (schema.type == Schema::Type::variant) {
    std::vector<const Schema*> all;
    for (const auto& alternative : schema.children)
      std::ranges::copy(nodes_at(alternative, path), std::back_inserter(all));
    return all;
  }
  const size_t dot = path.find('.');
  const auto* child =
      schema.type == Schema::Type::record ? schema.find(path.substr(0, dot)) : nullptr;
  if (child == nullptr) return {};
  return nodes_at(*child, dot == std::string_view::npos ? "" : path.substr(dot + 1));
}

const Schema* node_at(const Schema& schema, std::string_view path) {
  const auto all = nodes_at(schema, path);
  return all.empty() ? nullptr : all.front();
}

const Schema* variant_of_kind(const Schema& schema, std::string_view path) {
  const auto dot = path.rfind('.');
  const auto* section = dot == path.npos ? nullptr : node_at(schema, path.substr(0, dot));
  const bool is_kind = section != nullptr && section->type == Schema::Type::variant &&
                       section->discriminator == last_key(path);
  return is_kind ? section : nullptr;
}

std::vector<std::string> all_paths(const Schema& schema) {
  return distinct_paths(schema, [](const std::string&) { return true; });
}

std::vector<std::string> paths_of(const Schema& schema, std::string_view key) {
  return distinct_paths(schema, [&](const std::string& name) { return name == key; });
}

std::string type_text(const Schema& schema) {
  if (schema.type == Schema::Type::choice && schema.choices.size() == 1) return schema.choices[0];
  if (schema.type == Schema::Type::choice) return "one of " + alternatives(schema.choices);
  if (schema.type == Schema::Type::variant)
    return fmt::format("mapping; {} is one of {}", schema.discriminator,
                       alternatives(schema.choices));
  if (schema.type == Schema::Type::list)
    return fmt::format("list of {}{}", schema.length > 0 ? fmt::format("{} ", schema.length) : "",
                       plural_text(schema.children[0]));
  return std::string(std::ranges::find(kTypeWords, schema.type, &TypeWords::type)->one);
}

std::string bounded_type_text(const Schema& schema) {
  return type_text(schema) + (schema.bounds.given() ? " " + text_of(schema.bounds) : "");
}

namespace {

/// Collects leaves; beside other options of the same type only those that differ.
struct LeafWalk {
  std::vector<Leaf> leaves;

  void add_fields(const options::ConstSlot& own, const void* other, const std::string& path) {
    for (const auto& field : own.record->fields)
      add(*field.type, own.at(field),
          other == nullptr ? other : options::ConstSlot{own.record, other}.at(field),
          join_path(path, field.name));
    if (own.record == &options::record_of<models::TransformerOptions>())
      collect_layer_leaves(*static_cast<const models::TransformerOptions*>(own.options), path,
                           leaves);
  }

 private:
  void add(const options::Type& type, const void* own, const void* other, const std::string& path) {
    using Kind = options::Type::Kind;
    if (type.is<models::SideLayers>() || type.is<models::LayerChanges>()) return;
    if (type.kind == Kind::variant) {
      const bool renewed = other == nullptr || type.index(own) != type.index(other);
      if (renewed)
        leaves.push_back(
            {join_path(path, type.discriminator), std::string(type.words[type.index(own)])});
      add_fields(options::held(type, own), renewed ? nullptr : options::held(type, other).options,
                 path);
    } else if (type.kind == Kind::record) {
      add_fields({type.records[0], own}, other, path);
    } else if (auto text = yaml_of(type, own); other == nullptr || text != yaml_of(type, other)) {
      leaves.push_back({path, std::move(text)});
    }
  }
};

}  // namespace

std::vector<Leaf> leaves_of(const Experiment& experiment) {
  LeafWalk walk;
  walk.add_fields(options::slot_of(experiment), nullptr, "");
  return std::move(walk.leaves);
}

std::vector<Leaf> differing_leaves(const models::LayerOptions& layer,
                                   const models::LayerOptions& other) {
  LeafWalk walk;
  walk.add_fields(options::slot_of(layer), &other, "");
  return std::move(walk.leaves);
}

}  // namespace ablate::config

namespace ablate {

template const options::Record& options::record_of<config::Experiment>();
template const options::Record& options::record_of<models::TransformerOptions>();

}  // namespace ablate
