#pragma once

#include <string>
#include <variant>
#include <vector>

#include "training/optimizer_options.h"

namespace ablate::training {

/// One default-made value of every alternative.
template <class... Options>
std::vector<std::variant<Options...>> every_kind(const std::variant<Options...>&) {
  return {Options{}...};
}

inline std::string kind_of(const OptimizerOptions& options) {
  return std::visit([](const auto& chosen) { return std::string(chosen.name); }, options);
}

}  // namespace ablate::training
