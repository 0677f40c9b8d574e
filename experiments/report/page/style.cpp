#include <fmt/format.h>

#include "experiments/carried_texts.h"
#include "experiments/report/chart/palette.h"
#include "experiments/report/page/parts.h"

namespace ablate::report {
namespace {

constexpr const char* kLightRules =
    "--paper:#ffffff;--raised:#f6f7f8;--ink:#1f2328;--muted:#59616b;--rule:#d9dde1;"
    "--grid:#e7eaed;--accent:#0a62a8;--trained:#eef4f8;--warn:#8a3b00;--warn-paper:#fdf3ea;"
    "--good:#00704f;--margin:#dde7ee;--shade:#1f232838;--band:.16;";
constexpr const char* kDarkRules =
    "--paper:#14171a;--raised:#1c2024;--ink:#e6e8eb;--muted:#a0a8b1;--rule:#363c43;"
    "--grid:#282d33;--accent:#7cbcf0;--trained:#1c262e;--warn:#f0a56b;--warn-paper:#2a2018;"
    "--good:#4cc79d;--margin:#2b3a46;--shade:#000000b0;--band:.28;";
constexpr const char* kPrintedRules =
    "--ink:#000000;--muted:#444444;--rule:#bbbbbb;--grid:#dddddd;--accent:#000000;"
    "--trained:#eef2f5;--warn-paper:#ffffff;--good:#00543b;";

/// "--c1:#0072b2;...": the variables of a palette, but for the text's colour.
std::string colour_variables(const Palette& palette) {
  std::string variables;
  for (size_t i = 1; i < kColours; ++i) variables += fmt::format("--c{}:{};", i, palette[i]);
  return variables;
}

/// The style rules of the colour classes, from those variables.
std::string colour_rules() {
  std::string rules = ".c0{--c:var(--ink)}\n";
  for (size_t i = 1; i < kColours; ++i) rules += fmt::format(".c{0}{{--c:var(--c{0})}}\n", i);
  return rules;
}

/// The variables of light, dark and printed pages; paper is light.
std::string variable_rules() {
  const auto light = kLightRules + colour_variables(kLightPalette);
  const auto dark = kDarkRules + colour_variables(kDarkPalette);
  return "\n:root{color-scheme:light dark;" + light +
         "}\n@media(prefers-color-scheme:dark){:root{" + dark + "}}\n@media print{:root{" + light +
         kPrintedRules + "}}\n";
}

}  // namespace

std::string style_sheet() {
  return variable_rules() + colour_rules() + "\n" + text_named(style_sheets(), "page");
}

}  // namespace ablate::report
