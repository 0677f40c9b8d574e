#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace ablate::report {

constexpr size_t kColours = 8;

/// The colours of one scheme as CSS writes them; colour 0, that of the text, is "ink".
using Palette = std::array<const char*, kColours>;

/// Okabe and Ito's colours without yellow, and a grey, darkened or lightened until each has a
/// contrast of at least 3 to 1 with the paper and with raised rows (WCAG 2.1, success criterion
/// 1.4.11).
const Palette& light_palette();
const Palette& dark_palette();

/// "--c1:#0072b2;...": the variables of a palette, but for the text's colour.
std::string colour_variables(const Palette& palette);

/// The style rules of the colour classes, from those variables.
std::string colour_rules();

}  // namespace ablate::report
