#pragma once

#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

namespace ablate::models {

/// Base of options without keys; a derived class may define them.
struct EmptyOptions {
  static void fields(auto&, auto&&) {}
};

template <class Options>
bool equal_options(const Options& left, const Options& right);

template <class Value>
bool equal_values(const Value& left, const Value& right) {
  if constexpr (requires { Value::fields(left, [](auto&&...) {}); })
    return equal_options(left, right);
  else
    return left == right;
}

template <class... Options>
bool equal_values(const std::variant<Options...>& left, const std::variant<Options...>& right) {
  return left.index() == right.index() && std::visit(
                                              [&]<class Held>(const Held& held) {
                                                return equal_options(held, std::get<Held>(right));
                                              },
                                              left);
}

/// Whether a choice is a sub-layer, which adds to the residual stream, or nothing in its place.
template <class... Options>
constexpr bool is_sublayer(const std::variant<Options...>& choice) {
  return std::visit([]<class Held>(const Held&) { return Held::is_sublayer; }, choice);
}

/// Whether two option structs have the same values in all of their fields().
template <class Options>
bool equal_options(const Options& left, const Options& right) {
  std::vector<const void*> slots;  // of `right`
  Options::fields(right,
                  [&](std::string_view, const auto& slot, auto&&...) { slots.push_back(&slot); });
  bool equal = true;
  size_t next = 0;
  Options::fields(left, [&]<class Slot>(std::string_view, const Slot& slot, auto&&...) {
    equal = equal_values(slot, *static_cast<const Slot*>(slots[next++])) && equal;
  });
  return equal;
}

}  // namespace ablate::models
