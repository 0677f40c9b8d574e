#pragma once

#include <string>
#include <vector>

#include "experiments/config/layer_path.h"
#include "experiments/config/option.h"

namespace ablate::config {

/// One value of a configuration: its dotted path and its YAML text.
struct Leaf {
  std::string path;
  std::string text;
};

/// Adds what the lists of layers have of their own: for each side the values in which all of its
/// layers differ from the model's, and one value for `changes`. Equal models give equal leaves.
void collect_layer_leaves(const models::TransformerOptions& model, const std::string& path,
                          std::vector<Leaf>& leaves);

/// What one layer says differently from another: `attention: {heads: 4}, block: parallel`.
std::string layer_text(const models::LayerOptions& layer, const models::LayerOptions& other);

/// Adds every value of `options`, the kinds of its variants included, in reading order.
template <OptionStruct Options>
void collect_leaves(const Options& options, const std::string& path, std::vector<Leaf>& leaves) {
  Options::fields(options, [&](std::string_view name, const auto& slot, std::string_view) {
    using Slot = std::remove_cvref_t<decltype(slot)>;
    const auto below = join_path(path, name);
    if constexpr (is_layers<Slot>) {
      return;
    } else if constexpr (is_variant<Slot>) {
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
  if constexpr (std::is_same_v<Options, models::TransformerOptions>)
    collect_layer_leaves(options, path, leaves);
}

}  // namespace ablate::config
