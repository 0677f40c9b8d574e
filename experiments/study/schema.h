#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "experiments/study/reader.h"

namespace ablate::experiments {

/// Visits every option below `options`, in order, as visitor(path, slot, description), the options
/// of all alternatives of a variant included; variant(path, slot, description) comes before its
/// alternatives.
template <class Options, class Visitor>
void walk(const Options& options, const std::string& path, Visitor& visitor);

namespace detail {

template <class T>
concept OptionStruct = requires(const T& o) {
  T::fields(o, [](auto&&...) {});
};

template <class... Options, class Visitor>
void walk_slot(const std::variant<Options...>& slot, const std::string& path,
               std::string_view description, Visitor& visitor) {
  visitor.variant(path, slot, description);
  (walk(Options{}, path, visitor), ...);
}
template <OptionStruct Options, class Visitor>
void walk_slot(const Options& slot, const std::string& path, std::string_view, Visitor& visitor) {
  walk(slot, path, visitor);
}
template <class Slot, class Visitor>
void walk_slot(const Slot& slot, const std::string& path, std::string_view description,
               Visitor& visitor) {
  visitor.leaf(path, slot, description);
}

}  // namespace detail

template <class Options, class Visitor>
void walk(const Options& options, const std::string& path, Visitor& visitor) {
  Options::fields(options, [&](std::string_view name, const auto& slot, std::string_view text) {
    detail::walk_slot(slot, path.empty() ? std::string(name) : path + "." + std::string(name), text,
                      visitor);
  });
}

}  // namespace ablate::experiments
