#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>

#include "experiments/report/page/parts.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

/// The variables of the nth ":root" of the style sheet: light, dark, printed.
std::map<std::string, std::string> variables(int number) {
  const auto sheet = style_sheet();
  size_t at = 0;
  for (int i = 0; i <= number; ++i) at = sheet.find(":root{", at + 1);
  const auto rules = sheet.substr(at, sheet.find('}', at) - at);
  static const std::regex kVariable("--([a-z0-9-]+):([^;]+);");
  std::map<std::string, std::string> found;
  for (std::sregex_iterator one(rules.begin(), rules.end(), kVariable), end; one != end; ++one)
    found[(*one)[1]] = (*one)[2];
  return found;
}

/// Relative luminance of "#rrggbb" (WCAG 2.1).
double luminance(const std::string& colour) {
  double sum = 0;
  for (const auto& [at, weight] : {std::pair{1, 0.2126}, {3, 0.7152}, {5, 0.0722}}) {
    const double share = std::stoi(colour.substr(static_cast<size_t>(at), 2), nullptr, 16) / 255.0;
    sum += weight * (share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast_ratio(const std::string& one, const std::string& other) {
  const auto [low, high] = std::minmax({luminance(one), luminance(other)});
  return (high + 0.05) / (low + 0.05);
}

TEST(Style, ContrastIsThatOfTheStandard) {
  EXPECT_NEAR(contrast_ratio("#000000", "#ffffff"), 21, 1e-9);
  EXPECT_NEAR(contrast_ratio("#777777", "#ffffff"), 4.48, 0.005);
  EXPECT_NEAR(contrast_ratio("#e69f00", "#ffffff"), 2.25, 0.005);
}

TEST(Style, EveryColourOfAnArmStandsOutFromPaperAndRaisedRows) {
  for (int scheme = 0; scheme < 3; ++scheme) {
    const auto found = variables(scheme);
    for (size_t arm = 1; arm < kColours; ++arm)
      for (const auto* ground : {"paper", "raised"})
        EXPECT_GE(contrast_ratio(found.at("c" + std::to_string(arm)), found.at(ground)), 3)
            << "colour " << arm << " on " << ground << " in scheme " << scheme;
  }
}

TEST(Style, EveryTextCanBeRead) {
  for (int scheme = 0; scheme < 3; ++scheme) {
    const auto found = variables(scheme);
    for (const auto* ink : {"ink", "muted", "accent", "warn", "good"})
      for (const auto* ground : {"paper", "raised"})
        EXPECT_GE(contrast_ratio(found.at(ink), found.at(ground)), 4.5)
            << ink << " on " << ground << " in scheme " << scheme;
  }
}

TEST(Style, BandsAreStrongerInTheDarkAndPaperIsLight) {
  EXPECT_EQ(variables(0).at("band"), ".16");
  EXPECT_EQ(variables(1).at("band"), ".28");
  EXPECT_EQ(variables(2).at("paper"), "#ffffff");
  EXPECT_EQ(variables(2).at("c1"), variables(0).at("c1"));
  EXPECT_NE(variables(1).at("c1"), variables(0).at("c1"));
}

/// The declarations of the first rule for this selector.
std::string rule_of(const std::string& selector) {
  const auto sheet = style_sheet();
  const auto at = sheet.find("\n" + selector + "{");
  EXPECT_NE(at, std::string::npos) << selector;
  return sheet.substr(at, sheet.find('}', at) - at);
}

TEST(Style, SizesInsideTablesFollowTheTable) {
  for (const auto* selector : {"thead th", ".changes", ".changes code", ".below", ".ends"}) {
    const auto rule = rule_of(selector);
    EXPECT_TRUE(std::regex_search(rule, std::regex("font-size:[.0-9]+em"))) << rule;
  }
}

TEST(Style, PagesBreakBetweenRowsOfATable) {
  const auto sheet = style_sheet();
  const auto printed = sheet.substr(sheet.rfind("@media print"));
  EXPECT_TRUE(says(printed, "tr,li,figure{break-inside:avoid}"));
  EXPECT_FALSE(says(printed, "tbody"));
}

TEST(Style, AVerdictIsPlainUnlessItClaims) {
  EXPECT_FALSE(says(rule_of(".verdict"), "font-weight"));
  EXPECT_TRUE(says(rule_of(".verdict.claim"), "font-weight:650"));
}

TEST(Style, ATableThatGoesOnHasAShadowAtItsEdge) {
  const auto rule = rule_of(".scroll");
  EXPECT_TRUE(says(rule, "background-attachment:local,local,scroll,scroll"));
  EXPECT_TRUE(says(rule, "var(--shade)"));
}

TEST(Style, APhoneShowsTwoLinesForAnArm) {
  const auto sheet = style_sheet();
  const auto phone = sheet.substr(sheet.find("@media(max-width:640px)"));
  for (const auto* rule : {".ablation .wide{display:none}",
                           ".ablation tr{display:grid;grid-template-columns:minmax(0,1fr) auto;"})
    EXPECT_TRUE(says(phone, rule));
  EXPECT_TRUE(says(rule_of(".arm .short"), "white-space:nowrap"));
}

}  // namespace
}  // namespace ablate::report
