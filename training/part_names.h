#pragma once

#include <fmt/format.h>

#include <string_view>

namespace ablate::training {

/// Whether `words` are the name of a weight or whole words of it, as freeze, lora.train and
/// init_from.allow give them: "layers.3" of "decoder.layers.3.norm".
inline bool is_named(std::string_view name, std::string_view words) {
  return fmt::format(".{}.", name).find(fmt::format(".{}.", words)) != std::string::npos;
}

}  // namespace ablate::training
