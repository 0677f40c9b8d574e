#include "experiments/report/markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "experiments/analysis/figure.h"
#include "tokenizer/text/unicode.h"

namespace ablate::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool between(char32_t c, char32_t low, char32_t high) { return c >= low && c <= high; }

/// The character that represents `c` in the page.
char32_t harmless(char32_t c) {
  if (c < 0x20)
    return c == '\n' || c == '\t' ? c : 0x2400 + c;  // the pictures of control characters
  if (c == 0x7F) return 0x2421;
  const bool turns = between(c, 0x202A, 0x202E) || between(c, 0x2066, 0x2069);
  const bool no_character = between(c, 0xFDD0, 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
  return between(c, 0x80, 0x9F) || turns || no_character ? kReplacement : c;
}

constexpr auto kEntities = std::to_array<std::pair<char, std::string_view>>(
    {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}});

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : shown(text)) {
    const auto entity =
        std::ranges::find(kEntities, letter, &std::pair<char, std::string_view>::first);
    if (entity == kEntities.end())
      result += letter;
    else
      result += entity->second;
  }
  return result;
}

bool is_void(std::string_view name) {
  static constexpr std::array<std::string_view, 2> kVoid = {"meta", "wbr"};
  return std::ranges::find(kVoid, name) != kVoid.end();
}

}  // namespace

std::string shown(std::string_view text, size_t most) {
  std::string result;
  size_t last = 0, count = 0;
  for (size_t i = 0; i < text.size(); ++count) {
    if (count == most) {
      result.resize(last);
      return result += "\u2026";
    }
    last = result.size();
    tokenizer::append_utf8(result, harmless(tokenizer::next_code_point(text, i)));
  }
  return result;
}

size_t width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

Markup text(std::string_view text) { return Markup(escaped(text)); }

Markup element(const char* name, const std::vector<Attribute>& attributes, const Markup& content) {
  std::string html = std::string("<") + name;
  for (const auto& [key, value] : attributes) {
    html += ' ';
    html += key;
    html += "=\"" + escaped(value) + '"';
  }
  if (is_void(name)) return Markup(html + " />");
  html += '>';
  html += content.html();
  html += std::string("</") + name + '>';
  return Markup(std::move(html));
}

Markup style_element(std::string_view sheet) {
  return Markup("<style>" + std::string(sheet) + "</style>");
}

std::string typeset(const std::string& figures) {
  if (figures == "-") return "\u2013";
  std::string result;
  for (const char letter : figures) result += letter == '-' ? "\u2212" : std::string(1, letter);
  return result;
}

std::string score(double value, const std::string& metric) {
  return typeset(analysis::format_metric(value, metric));
}

std::string difference(double value, const std::optional<statistics::Interval>& interval,
                       const std::string& metric) {
  const auto digits = analysis::value_beside(value, interval, metric);
  const bool positive = value > 0 && digits.find_first_of("123456789i") != std::string::npos;
  return positive ? "+" + digits : typeset(digits);
}

std::string interval(const std::optional<statistics::Interval>& interval,
                     const std::string& metric) {
  return typeset(analysis::format_metric(interval, metric));
}

std::string fixed(double number, int decimals) {
  return typeset(std::isfinite(number) ? fmt::format("{:.{}f}", number, decimals) : "-");
}

std::string plain(double number) {
  return typeset(std::isfinite(number) ? fmt::format("{:.4g}", number + 0.0)  // -0 becomes 0
                                       : "-");
}

std::string large(double number) { return typeset(analysis::count_figure(number)); }

}  // namespace ablate::report
