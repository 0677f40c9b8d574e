#pragma once

#include <span>
#include <string_view>

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

/// The style sheets of pages.
std::span<const CarriedText> style_sheets();

/// The file with words of other toolkits and their names here.
std::span<const CarriedText> foreign_word_lists();

/// The advice of the atlas of claims, as JSON.
std::span<const CarriedText> atlas_advice();

/// The text with this name. REQUIRES: there is one.
inline const char* text_named(std::span<const CarriedText> texts, std::string_view name) {
  auto one = texts.begin();
  while (one->name != name) ++one;
  return one->text;
}

}  // namespace ablate
