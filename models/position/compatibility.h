#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <variant>

#include "models/position/position_options.h"

namespace ablate::models {

/// What a position scheme says of itself. tests/models/position/compatibility_test.cpp measures
/// every cell, and that every scheme works in every family, with the key/value cache and in a
/// trace, and lets no position of a decoder see later ones.
struct Compatibility {
  std::string_view scheme;  // its kind
  std::string_view acts_on;
  bool tells_order, shift_free, reads_position_ids;
  std::string_view beyond_training;
};

template <class... Schemes>
constexpr auto compatibility_of(std::type_identity<std::variant<Schemes...>>) {
  return std::array{Compatibility{Schemes::name, Schemes::acts_on, Schemes::tells_order,
                                  Schemes::shift_free, Schemes::reads_position_ids,
                                  Schemes::beyond_training}...};
}

inline constexpr auto kCompatibility = compatibility_of(std::type_identity<PositionOptions>());

}  // namespace ablate::models
