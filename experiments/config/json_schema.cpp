#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/explanation.h"
#include "experiments/config/option.h"
#include "experiments/config/study_schema.h"

namespace ablate::experiments {
namespace {

std::string json_of(const Schema& schema);

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

/// Dotted keys are left to `ablate config check`: JSON Schema cannot follow a path.
std::string properties(const std::vector<Schema>& keys, const std::string& first = {}) {
  std::string text = first;
  for (const auto& key : keys)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_text(key.name), json_of(key));
  return fmt::format(
      "\"properties\": {{{}}}, \"patternProperties\": {{\"[.]\": {{}}}}, "
      "\"additionalProperties\": false",
      text);
}

/// A variant allows the keys of each alternative beside its kind.
std::string json_variant(const Schema& schema) {
  std::string kinds;
  for (const auto& kind : schema.children) {
    const auto discriminator =
        fmt::format("{}: {{\"const\": {}}}", json_text(schema.discriminator), json_text(kind.name));
    kinds += fmt::format("{}{{{}}}", kinds.empty() ? "" : ", ",
                         properties(kind.children, discriminator));
  }
  return fmt::format("\"type\": \"object\", \"anyOf\": [{}]", kinds);
}

std::string json_length(size_t length) {
  return length == 0 ? "" : fmt::format(", \"minItems\": {0}, \"maxItems\": {0}", length);
}

std::string json_scalar(const std::string& type, bool optional) {
  return optional ? fmt::format("\"type\": [\"{}\", \"null\"]", type)
                  : fmt::format("\"type\": \"{}\"", type);
}

/// YAML reads the words true and false as booleans.
std::string json_choice(const Schema& schema) {
  std::string list = json_list(schema.choices);
  list.pop_back();
  for (const auto* word : {"true", "false"})
    if (std::ranges::find(schema.choices, word) != schema.choices.end())
      list += fmt::format(", {}", word);
  return fmt::format("\"enum\": {}{}]", list, schema.optional ? ", null" : "");
}

std::string json_type(const Schema& schema) {
  switch (schema.type) {
    case Schema::Type::boolean:
      return json_scalar("boolean", schema.optional);
    case Schema::Type::integer:
      return json_scalar("integer", schema.optional);
    case Schema::Type::number:
      return json_scalar("number", schema.optional);
    case Schema::Type::text:
      return json_scalar("string", schema.optional);
    case Schema::Type::choice:
      return json_choice(schema);
    case Schema::Type::list:
      return fmt::format("\"type\": \"array\", \"items\": {}{}", json_of(schema.children[0]),
                         json_length(schema.length));
    case Schema::Type::mapping:
      return "\"type\": \"object\", " + properties(schema.children);
    case Schema::Type::variant:
      return json_variant(schema);
    case Schema::Type::any:
      return "\"type\": \"object\"";
  }
  return "";
}

std::string json_of(const Schema& schema) {
  const auto description = schema.description.empty() ? ""
                                                      : fmt::format("\"description\": {}, ",
                                                                    json_text(schema.description));
  return fmt::format("{{{}{}}}", description, json_type(schema));
}

}  // namespace

std::string json_schema() {
  const auto schema = study_schema();
  return fmt::format(
      "{{\"$schema\": \"http://json-schema.org/draft-07/schema#\", \"title\": \"Ablate study\", "
      "\"required\": [\"name\", \"seeds\"], {}}}\n",
      json_type(schema));
}

}  // namespace ablate::experiments
