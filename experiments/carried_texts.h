#pragma once

#include <span>

namespace ablate {

/// A file that the program carries; the build writes its unit. The name is that of the file,
/// without its extension.
struct CarriedText {
  const char* name;
  const char* text;
};

/// The quickstart, which `ablate init` writes, and the architectures of its flag --like.
std::span<const CarriedText> starters();

/// The maps of names of other projects' families, as YAML.
std::span<const CarriedText> family_yamls();

}  // namespace ablate
