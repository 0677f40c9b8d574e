#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "experiments/config/arm.h"
#include "experiments/config/explanation.h"
#include "experiments/config/option.h"
#include "experiments/config/study_schema.h"

namespace ablate::config {
namespace {

constexpr const char* kRun = "run";  // the definition of everything that stands below `base`

std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

std::string json_list(const std::vector<std::string>& words) {
  std::string list;
  for (const auto& word : words)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", json_text(word));
  return fmt::format("[{}]", list);
}

std::string reference(const std::string& definition) {
  return fmt::format("{{\"$ref\": \"#/definitions/{}\"}}", definition);
}

std::string member(const std::string& key, const std::string& value) {
  return fmt::format("{}: {}", json_text(key), value);
}

std::string scalar(const std::string& type, bool optional) {
  return optional ? fmt::format("\"type\": [\"{}\", \"null\"]", type)
                  : fmt::format("\"type\": \"{}\"", type);
}

/// YAML reads the words true and false as booleans.
std::string choice(const Schema& schema) {
  std::string list = json_list(schema.choices);
  list.pop_back();
  for (const auto* word : {"true", "false"})
    if (std::ranges::find(schema.choices, word) != schema.choices.end())
      list += fmt::format(", {}", word);
  return fmt::format("\"enum\": {}{}]", list, schema.optional ? ", null" : "");
}

std::string length(const Schema& list) {
  return list.length == 0 ? "" : fmt::format(", \"minItems\": {0}, \"maxItems\": {0}", list.length);
}

/// The keys of a section. Dotted ones are checked where `run` spells them out, here they are not.
std::string keys_of(const Schema& section, const std::string& path, const std::string& first = {}) {
  std::vector<std::string> members;
  if (!first.empty()) members.push_back(first);
  for (const auto& key : section.children)
    members.push_back(member(key.name, reference(join_path(path, key.name))));
  return fmt::format(
      "\"properties\": {{{}}}, \"patternProperties\": {{\"[.]\": {{}}}}, "
      "\"additionalProperties\": false",
      fmt::join(members, ", "));
}

/// A variant allows the keys of each alternative beside its kind.
std::string variant(const Schema& schema, const std::string& path) {
  std::vector<std::string> kinds;
  for (const auto& kind : schema.children) {
    const auto name =
        member(schema.discriminator, fmt::format("{{{}}}", member("const", json_text(kind.name))));
    kinds.push_back(fmt::format("{{{}}}", keys_of(kind, path, name)));
  }
  return fmt::format("\"type\": \"object\", \"anyOf\": [{}]", fmt::join(kinds, ", "));
}

std::string type_of(const Schema& schema, const std::string& path) {
  switch (schema.type) {
    case Schema::Type::boolean:
      return scalar("boolean", schema.optional);
    case Schema::Type::integer:
      return scalar("integer", schema.optional);
    case Schema::Type::number:
      return scalar("number", schema.optional);
    case Schema::Type::text:
      return scalar("string", schema.optional);
    case Schema::Type::choice:
      return choice(schema);
    case Schema::Type::list:
      if (schema.children[0].type == Schema::Type::any)
        return "\"type\": \"array\", \"minItems\": 1";
      return fmt::format("{}, \"items\": {{{}}}{}", scalar("array", schema.optional),
                         type_of(schema.children[0], path), length(schema));
    case Schema::Type::mapping:
      return "\"type\": \"object\", " + keys_of(schema, path);
    case Schema::Type::variant:
      return variant(schema, path);
    case Schema::Type::any:
      return "\"type\": \"object\"";
  }
  return "";
}

std::string described(const std::string& description, const std::string& type) {
  return description.empty()
             ? fmt::format("{{{}}}", type)
             : fmt::format("{{{}, {}}}", member("description", json_text(description)), type);
}

/// What each dotted path may hold: more than one thing where alternatives share a key's name.
using Definitions = std::map<std::string, std::vector<std::string>>;

void define(const Schema& schema, const std::string& path, Definitions& definitions) {
  const auto add = [&](const std::string& at, const std::string& text) {
    auto& known = definitions[at];
    if (std::ranges::find(known, text) == known.end()) known.push_back(text);
  };
  if (!path.empty()) add(path, described(schema.description, type_of(schema, path)));
  if (schema.type == Schema::Type::variant) {
    add(join_path(path, schema.discriminator), described(schema.description, choice(schema)));
    for (const auto& kind : schema.children)
      for (const auto& key : kind.children) define(key, join_path(path, key.name), definitions);
  } else if (schema.type == Schema::Type::mapping) {
    for (const auto& key : schema.children) define(key, join_path(path, key.name), definitions);
  }
}

std::string lines(const std::vector<std::string>& members) {
  return fmt::format("{{\n{}\n}}", fmt::join(members, ",\n"));
}

std::vector<std::string> members_of(const Definitions& definitions) {
  std::vector<std::string> members;
  for (const auto& [path, texts] : definitions)
    members.push_back(member(
        path,
        texts.size() == 1 ? texts[0] : fmt::format("{{\"anyOf\": [{}]}}", fmt::join(texts, ", "))));
  return members;
}

/// A mapping of every dotted path below `base` to what `value` makes of its definition.
template <class Value>
std::string paths(const Definitions& definitions, const Value& value) {
  std::vector<std::string> members;
  for (const auto& [path, texts] : definitions)
    members.push_back(member(path, value(reference(path))));
  return fmt::format("\"type\": \"object\", \"additionalProperties\": false, \"properties\": {}",
                     lines(members));
}

/// Names of tasks or arms, each with what it changes.
std::string named_changes() {
  return fmt::format(
      "\"type\": \"object\", \"minProperties\": 1, \"propertyNames\": {{\"pattern\": {}}}, "
      "\"additionalProperties\": {{\"anyOf\": [{}, {{\"type\": \"null\"}}]}}",
      json_text(kNamePattern), reference(kRun));
}

std::string grid(const Definitions& definitions) {
  return "\"minProperties\": 1, " + paths(definitions, [](const std::string& value) {
           return fmt::format("{{\"type\": \"array\", \"minItems\": 1, \"items\": {}}}", value);
         });
}

/// A key of the study file.
std::string study_key(const Schema& key, const Definitions& definitions) {
  if (key.name == "base") return fmt::format("\"allOf\": [{}]", reference(kRun));
  if (key.name == "tasks" || key.name == "arms") return named_changes();
  if (key.name == "grid") return grid(definitions);
  return type_of(key, key.name);
}

}  // namespace

std::string json_schema() {
  Definitions run, study;
  define(experiment_schema(), "", run);
  std::vector<std::string> keys;
  const auto& file = study_schema();
  for (const auto& key : file.children) {
    if (key.name != "base") define(key, key.name, study);
    keys.push_back(member(key.name, described(key.description, study_key(key, run))));
  }
  std::vector<std::string> definitions = members_of(run);
  std::ranges::move(members_of(study), std::back_inserter(definitions));
  definitions.push_back(member(
      kRun, fmt::format("{{{}}}", paths(run, [](const std::string& value) { return value; }))));
  return fmt::format(
      "{{\"$schema\": \"http://json-schema.org/draft-07/schema#\", \"title\": \"Ablate study\", "
      "\"type\": \"object\", \"required\": {}, "
      "\"additionalProperties\": false,\n\"properties\": {},\n\"definitions\": {}}}\n",
      json_list(file.required), lines(keys), lines(definitions));
}

}  // namespace ablate::config
