#pragma once

#include <variant>

namespace ablate::models {

/// Base of options without keys; a derived class may define them.
struct EmptyOptions {
  static void fields(auto&, auto&&) {}
};

/// Whether a choice is a sub-layer, which adds to the residual stream, or nothing in its place.
template <class... Options>
constexpr bool is_sublayer(const std::variant<Options...>& choice) {
  return std::visit([]<class Held>(const Held&) { return Held::is_sublayer; }, choice);
}

}  // namespace ablate::models
