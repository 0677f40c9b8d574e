#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "experiments/config/yaml/value.h"
#include "options/record.h"

namespace ablate {

template <>
inline constexpr bool options::is_opaque<config::Value> = true;

}  // namespace ablate

namespace ablate::config {

template <class T>
concept Choice = std::is_enum_v<T>;

/// The key that names a variant's alternative, if it has no name of its own.
inline constexpr std::string_view kKind = "kind";

/// The word of an enumerator in files and messages.
template <Choice T>
std::string word_of(T value) {
  for (const auto& [choice, word] : names(T{}))
    if (choice == value) return std::string(word);
  return "";
}

template <Choice T>
std::vector<std::string> choices_of(T) {
  std::vector<std::string> words;
  for (const auto& [value, word] : names(T{})) words.emplace_back(word);
  return words;
}

inline std::string join_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

/// The last key of a dotted path.
inline std::string last_key(std::string_view path) {
  return std::string(path.substr(path.rfind('.') + 1));  // npos + 1 is 0
}

/// Text as a YAML scalar that parses back to the same text.
std::string quoted_yaml(std::string_view text);

/// A value other than a struct or a variant as YAML.
std::string yaml_of(const options::Type& type, const void* slot);
template <class T>
std::string yaml_of(const T& value) {
  return yaml_of(options::type_of<T>(), &value);
}

}  // namespace ablate::config
