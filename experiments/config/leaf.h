#pragma once

#include <string>
#include <vector>

#include "experiments/config/option.h"

namespace ablate::config {

/// One value of a configuration: its dotted path and its YAML text.
struct Leaf {
  std::string path;
  std::string text;
};

/// Adds every value of `options`, the kinds of its variants included, in reading order.
template <OptionStruct Options>
void collect_leaves(const Options& options, const std::string& path, std::vector<Leaf>& leaves) {
  Options::fields(options, [&](std::string_view name, const auto& slot, std::string_view) {
    using Slot = std::remove_cvref_t<decltype(slot)>;
    const auto below = join_path(path, name);
    if constexpr (is_variant<Slot>) {
      std::visit(
          [&](const auto& held) {
            leaves.push_back({join_path(below, discriminator_of(slot)), std::string(held.name)});
            collect_leaves(held, below, leaves);
          },
          slot);
    } else if constexpr (OptionStruct<Slot>) {
      collect_leaves(slot, below, leaves);
    } else {
      leaves.push_back({below, yaml_of(slot)});
    }
  });
}

}  // namespace ablate::config
