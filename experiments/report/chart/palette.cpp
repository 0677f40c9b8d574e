#include "experiments/report/chart/palette.h"

#include <fmt/format.h>

namespace ablate::report {
namespace {

constexpr Palette kLight = {"#1f2328", "#0072b2", "#d55e00", "#00875f",
                            "#c2649b", "#a86b00", "#2b8cbe", "#7b8189"};
constexpr Palette kDark = {"#e6e8eb", "#4aa3df", "#e8752a", "#1fb98c",
                           "#d98bb5", "#e69f00", "#a3d8f5", "#8f959d"};

}  // namespace

const Palette& light_palette() { return kLight; }
const Palette& dark_palette() { return kDark; }

std::string colour_variables(const Palette& palette) {
  std::string variables;
  for (size_t i = 1; i < kColours; ++i) variables += fmt::format("--c{}:{};", i, palette[i]);
  return variables;
}

std::string colour_rules() {
  std::string rules = ".c0{--c:var(--ink)}\n";
  for (size_t i = 1; i < kColours; ++i) rules += fmt::format(".c{0}{{--c:var(--c{0})}}\n", i);
  return rules;
}

}  // namespace ablate::report
