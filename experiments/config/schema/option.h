#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace ablate::config {

/// A struct with fields(), the list of its members.
template <class T>
concept OptionStruct = requires(T& o) {
  T::fields(o, [](auto&&...) {});
};

template <class T>
concept Choice = std::is_enum_v<T>;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

/// 0 for a vector (any length), the length of an array, -1 for other types.
template <class T>
inline constexpr int list_length = -1;
template <class T>
inline constexpr int list_length<std::vector<T>> = 0;
template <class T, size_t N>
inline constexpr int list_length<std::array<T, N>> = static_cast<int>(N);
template <class T>
concept List = list_length<T>
>= 0;

/// The key that names a variant's alternative, if it has no name of its own.
inline constexpr std::string_view kKind = "kind";

/// Whether a struct has a key `kind`, which a bare word in its place means.
template <OptionStruct T>
bool has_kind(const T& options) {
  bool found = false;
  T::fields(options, [&](std::string_view name, auto&&...) { found |= name == kKind; });
  return found;
}

/// The key that names a variant's alternative.
template <class First, class... Rest>
constexpr std::string_view discriminator_of(const std::variant<First, Rest...>&) {
  if constexpr (requires { First::discriminator; })
    return First::discriminator;
  else
    return kKind;
}

template <class... Options>
std::vector<std::string> kinds_of(const std::variant<Options...>&) {
  return {std::string(Options::name)...};
}

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
std::string number_yaml(double number);

/// A value other than a struct or a variant as YAML.
template <class T>
std::string yaml_of(const T& value) {
  if constexpr (is_optional<T>) {
    return value ? yaml_of(*value) : "null";
  } else if constexpr (List<T>) {
    std::string items;
    for (const auto& item : value) items += (items.empty() ? "" : ", ") + yaml_of(item);
    return "[" + items + "]";
  } else if constexpr (Choice<T>) {
    return word_of(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, double>) {
    return number_yaml(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return quoted_yaml(value);
  } else {
    static_assert(std::is_same_v<T, int64_t>);
    return std::to_string(value);
  }
}

}  // namespace ablate::config
