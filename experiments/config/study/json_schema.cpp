#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "experiments/config/schema/describe.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/explanation.h"
#include "experiments/config/study/study_file.h"

namespace ablate::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRun = "run";  // the definition of all keys below `base`
constexpr const char* kLayer = "layer";

Json reference(const std::string& definition) { return {{"$ref", "#/definitions/" + definition}}; }

Json scalar(const char* type, bool optional) {
  return {{"type", optional ? Json{type, "null"} : Json(type)}};
}

/// Adds the bounds of a number.
Json bounded(Json json, const options::Bounds& bounds) {
  if (std::isfinite(bounds.low))
    json[bounds.above_low ? "exclusiveMinimum" : "minimum"] = bounds.low;
  if (std::isfinite(bounds.high))
    json[bounds.below_high ? "exclusiveMaximum" : "maximum"] = bounds.high;
  return json;
}

/// YAML reads the words true and false as booleans.
Json choice(const Schema& schema) {
  Json words = schema.choices;
  for (const bool truth : {true, false})
    if (std::ranges::find(schema.choices, truth ? "true" : "false") != schema.choices.end())
      words.push_back(truth);
  if (schema.optional) words.push_back(nullptr);
  Json json{{"enum", words}};
  if (!schema.abouts.empty()) json["enumDescriptions"] = schema.abouts;  // read by editors
  return json;
}

/// Adds the keys of a section. Dotted keys are checked only in the definition `run`, which lists
/// them.
void add_keys(Json& json, const Schema& section, const std::string& path) {
  for (const auto& key : section.children)
    json["properties"][key.name] = reference(join_path(path, key.name));
  json["patternProperties"]["[.]"] = Json::object();
  json["additionalProperties"] = false;
}

/// A variant allows the keys of an alternative together with its kind.
Json variant(const Schema& schema, const std::string& path) {
  auto kinds = Json::array();
  for (const auto& kind : schema.children) {
    Json alternative{{"description", kind.description}};
    alternative["properties"][schema.discriminator]["const"] = kind.name;
    add_keys(alternative, kind, path);
    kinds.push_back(std::move(alternative));
  }
  const Json mapping{{"type", "object"}, {"anyOf", std::move(kinds)}};
  return {{"anyOf", {mapping, choice(schema)}}};
}

Json type_of(const Schema& schema, const std::string& path);
Json described(const std::string& description, const Json& type);

Json list(const Schema& schema, const std::string& path) {
  auto json = scalar("array", schema.optional);
  json["items"] = type_of(schema.children[0], path);
  if (schema.length > 0) json["minItems"] = json["maxItems"] = schema.length;
  return json;
}

/// The keys of a layer, dotted or not, and the further keys of this section.
Json layer(const Schema& schema, const std::string& path) {
  Json json{{"type", "object"}, {"allOf", Json::array({reference(kLayer)})}};
  std::string names;
  for (const auto& key : schema.children) {
    names += (names.empty() ? "" : "|") + key.name;
    if (node_at(experiment_schema(), join_path("model", key.name)) == nullptr)
      json["properties"][key.name] = described(key.description, type_of(key, path));
  }
  json["propertyNames"]["pattern"] = "^(" + names + ")([.].*)?$";
  return json;
}

Json mapping(const Schema& schema, const std::string& path) {
  if (schema.of_layer) return layer(schema, path);
  Json json{{"type", "object"}, {"properties", Json::object()}};
  add_keys(json, schema, path);
  const auto* kind = schema.find(kKind);
  return kind == nullptr ? json : Json{{"anyOf", {json, choice(*kind)}}};
}

Json type_of(const Schema& schema, const std::string& path) {
  switch (schema.type) {
    case Schema::Type::boolean:
      return scalar("boolean", schema.optional);
    case Schema::Type::integer:
      return bounded(scalar("integer", schema.optional), schema.bounds);
    case Schema::Type::number:
      return bounded(scalar("number", schema.optional), schema.bounds);
    case Schema::Type::text:
      return scalar("string", schema.optional);
    case Schema::Type::choice:
      return choice(schema);
    case Schema::Type::list:
      return list(schema, path);
    case Schema::Type::record:
      return mapping(schema, path);
    case Schema::Type::variant:
      return variant(schema, path);
    case Schema::Type::optional:
    case Schema::Type::other:
      break;
  }
  return {{"type", "object"}};
}

Json described(const std::string& description, const Json& type) {
  if (description.empty()) return type;
  Json json{{"description", description}};
  json.update(type);
  return json;
}

/// The types of each dotted path: more than one if alternatives share a key's name.
using Definitions = std::map<std::string, std::vector<Json>>;

void define(const Schema& schema, const std::string& path, Definitions& definitions) {
  const auto add = [&](const std::string& at, const Json& json) {
    auto& known = definitions[at];
    if (std::ranges::find(known, json) == known.end()) known.push_back(json);
  };
  if (!path.empty()) add(path, described(schema.description, type_of(schema, path)));
  if (schema.type == Schema::Type::variant) {
    add(join_path(path, schema.discriminator), described(schema.description, choice(schema)));
    for (const auto& kind : schema.children)
      for (const auto& key : kind.children) define(key, join_path(path, key.name), definitions);
  } else if (schema.type == Schema::Type::record && !schema.of_layer) {
    for (const auto& key : schema.children) define(key, join_path(path, key.name), definitions);
  }
}

void add_definitions(Json& json, const Definitions& definitions) {
  for (const auto& [path, any_of] : definitions)
    json[path] = any_of.size() == 1 ? any_of[0] : Json{{"anyOf", any_of}};
}

/// "model.encoder.norm.kind" of "model.norm.kind"; empty if a side has no such key.
std::string path_of_side(const std::string& path, const std::string& side) {
  constexpr std::string_view kModel = "model.";
  if (!path.starts_with(kModel)) return {};
  const auto key = path.substr(kModel.size());
  const auto* section = node_at(experiment_schema(), side);
  return section->find(key.substr(0, key.find('.'))) == nullptr ? "" : join_path(side, key);
}

/// A mapping of every dotted path below `base` to `value` of its definition.
template <class Value>
Json paths(const Definitions& definitions, const Value& value) {
  Json json{{"type", "object"}, {"additionalProperties", false}};
  auto& keys = json["properties"];
  for (const auto& [path, any_of] : definitions) keys[path] = value(reference(path));
  for (const auto* side : {"model.encoder", "model.decoder"})
    for (const auto& [path, any_of] : definitions)
      if (const auto own = path_of_side(path, side); !own.empty())
        keys[own] = value(reference(path));
  return json;
}

/// A mapping of names of tasks, sizes or arms to their changes.
Json named_changes() {
  return {{"type", "object"},
          {"minProperties", 1},
          {"propertyNames", {{"pattern", kNamePattern}}},
          {"additionalProperties", {{"anyOf", {reference(kRun), {{"type", "null"}}}}}}};
}

Json grid(const Definitions& definitions) {
  Json json{{"minProperties", 1}};
  json.update(paths(definitions, [](const Json& value) -> Json {
    return {{"type", "array"}, {"minItems", 1}, {"items", value}};
  }));
  return json;
}

/// Two lists of seeds, every pair of which has a run.
Json crossed_seeds() {
  const Json list{{"type", "array"},
                  {"minItems", 2},
                  {"items", {{"type", "integer"}, {"minimum", 0}, {"maximum", 999}}}};
  return {{"type", "object"},
          {"properties", {{"initialization", list}, {"order", list}}},
          {"required", {"initialization", "order"}},
          {"additionalProperties", false}};
}

/// A key of the study file.
Json study_key(const Schema& key) {
  if (key.name == "base") return {{"allOf", Json::array({reference(kRun)})}};
  if (key.name == "tasks" || key.name == "sizes" || key.name == "arms") return named_changes();
  if (key.name == "seeds") return {{"anyOf", {type_of(key, key.name), crossed_seeds()}}};
  if (key.name == "grid") return {{"allOf", Json::array({reference(key.name)})}};
  return type_of(key, key.name);
}

/// Writes long objects with a line for each member, so that a new key changes few lines of the
/// file.
std::string indented(const Json& json) {
  constexpr size_t kLongLine = 2000;
  auto text = json.dump();
  if (!json.is_object() || text.size() <= kLongLine) return text;
  text = "{";
  for (const auto& [key, value] : json.items())
    text += (text == "{" ? "\n" : ",\n") + Json(key).dump() + ": " + indented(value);
  return text + "\n}";
}

}  // namespace

std::string json_schema() {
  Definitions run, study;
  define(experiment_schema(), "", run);
  const auto& file = study_schema();
  Json json{{"$schema", "http://json-schema.org/draft-07/schema#"},
            {"title", "Ablate study"},
            {"type", "object"},
            {"anyOf", Json::array({{{"required", file.required}}, {{"required", {"extends"}}}})},
            {"additionalProperties", false}};
  for (const auto& key : file.children) {
    if (key.name != "base") define(key, key.name, study);
    json["properties"][key.name] = described(key.description, study_key(key));
  }
  add_definitions(json["definitions"], run);
  add_definitions(json["definitions"], study);
  json["definitions"]["grid"].update(grid(run));
  json["definitions"]["tune.keys"]["allOf"] = Json::array({reference("grid")});
  auto& layer = json["definitions"][kLayer];
  for (const auto& key : describe_layer().children)
    layer["properties"][key.name] = reference(join_path("model", key.name));
  json["definitions"][kRun] = paths(run, [](const Json& value) { return value; });
  return indented(json) + "\n";
}

}  // namespace ablate::config
