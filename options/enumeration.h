#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace ablate::options {

/// The number of words of a list such as `none, rms, layer`.
constexpr size_t count_words(std::string_view list) {
  return static_cast<size_t>(std::ranges::count(list, ',')) + 1;
}

/// The words of such a list, each with the enumerator of its place.
template <class Enum, size_t Count>
constexpr auto enumerators(std::string_view list) {
  std::array<std::pair<Enum, std::string_view>, Count> named;
  for (size_t i = 0; i < Count; ++i) {
    const auto comma = std::min(list.find(','), list.size());
    named[i] = {static_cast<Enum>(i), list.substr(0, comma)};
    list.remove_prefix(std::min(list.find_first_not_of(", ", comma), list.size()));
  }
  return named;
}

}  // namespace ablate::options

/// An enum and its names(): the enumerators are the words of files and messages.
#define ABLATE_ENUM(Name, ...)                                                             \
  enum class Name;                                                                         \
  constexpr auto names(Name) {                                                             \
    return ablate::options::enumerators<Name, ablate::options::count_words(#__VA_ARGS__)>( \
        #__VA_ARGS__);                                                                     \
  }                                                                                        \
  enum class Name { __VA_ARGS__ }
