#pragma once

#include <array>
#include <cstddef>

namespace ablate::report {

constexpr size_t kColours = 8;

/// The colours of one scheme as CSS writes them; colour 0, that of the text, is "ink".
using Palette = std::array<const char*, kColours>;

/// Okabe and Ito's colours without yellow, and a grey, darkened or lightened until each has a
/// contrast of at least 3 to 1 with the paper and with raised rows (WCAG 2.1, success criterion
/// 1.4.11).
inline constexpr Palette kLightPalette = {"#1f2328", "#0072b2", "#d55e00", "#00875f",
                                          "#c2649b", "#a86b00", "#2b8cbe", "#7b8189"};
inline constexpr Palette kDarkPalette = {"#e6e8eb", "#4aa3df", "#e8752a", "#1fb98c",
                                         "#d98bb5", "#e69f00", "#a3d8f5", "#8f959d"};

}  // namespace ablate::report
