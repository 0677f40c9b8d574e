#include "experiments/report/chart/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "experiments/analysis/figure.h"

namespace ablate::report {

Markup rule(const char* kind, double from_x, double from_y, double to_x, double to_y) {
  return path(kind, fmt::format("M{} {}L{} {}", at(from_x), at(from_y), at(to_x), at(to_y)));
}

namespace {

constexpr double kTickLetter = 7.6;  // of a narrow page, where they are largest
constexpr int kTicksOnY = 5, kMostDecimals = 5;

double text_width(const std::string& text) {
  return kTickLetter * static_cast<double>(width(text));
}

std::string without_zeros(const std::string& digits) {
  if (digits.find('.') == digits.npos) return digits;
  const auto last = digits.find_last_not_of('0');
  return digits.substr(0, digits[last] == '.' ? last : last + 1);
}

/// "20 k", "2.5 M"
std::string short_text(double tick) {
  const auto digits = large(tick);
  const auto end = std::min(digits.find(' '), digits.size());
  return without_zeros(digits.substr(0, end)) + digits.substr(end);
}

/// The numbers at ticks.
std::vector<std::string> texts_at(const std::vector<double>& ticks) {
  std::vector<std::string> texts;
  for (const double tick : ticks)
    texts.push_back(std::abs(tick) < 1e4 ? plain(tick) : short_text(tick));
  return texts;
}

/// The numbers at the ticks of a scale, which have the digits that tell them apart.
std::vector<std::string> texts_at(const Scale& scale, const std::vector<double>& ticks) {
  if (scale.logarithmic() || ticks.size() < 2) return texts_at(ticks);
  const double most = std::max(std::abs(ticks.front()), std::abs(ticks.back()));
  const auto [unit, name] = most < 1e4 ? std::pair(1.0, "") : analysis::unit_of(most);
  const double places = -std::log10((ticks[1] - ticks[0]) / unit);
  const int decimals = std::max(0, static_cast<int>(std::ceil(places - 1e-9)));
  if (decimals > kMostDecimals) return texts_at(ticks);
  std::vector<std::string> texts;
  for (const double tick : ticks)
    texts.push_back(tick == 0 ? "0" : without_zeros(fixed(tick / unit, decimals)) + name);
  return texts;
}

std::vector<double> x_ticks(const Frame& frame) {
  if (!frame.at_x.empty()) return frame.at_x;
  auto ticks = frame.x.ticks(frame.ticks);
  if (frame.whole) std::erase_if(ticks, [](double tick) { return tick != std::round(tick); });
  return ticks;
}

Markup ticks_of(const Frame& frame) {
  Markup result;
  const auto y_ticks = frame.y.ticks(kTicksOnY), at_x = x_ticks(frame);
  const auto y_texts = texts_at(frame.y, y_ticks);
  const auto x_texts = frame.at_x.empty() ? texts_at(frame.x, at_x) : texts_at(at_x);
  for (size_t i = 0; i < y_ticks.size(); ++i) {
    const double y = frame.y.place(y_ticks[i]);
    result += rule("grid", frame.left, y, frame.right, y);
    result += words(frame.left - 7, y + 4, "tick end", y_texts[i]);
  }
  std::string before;
  double free = 0;
  for (size_t i = 0; i < at_x.size(); ++i) {
    const double x = frame.x.place(at_x[i]), half = text_width(x_texts[i]) / 2;
    result += rule("axis", x, frame.bottom, x, frame.bottom + 4);
    // Ticks that are nearly equal read alike.
    if (x_texts[i] == before || x - half < free) continue;
    result += words(x, frame.bottom + 17, "tick middle", x_texts[i]);
    free = x + half + kTickLetter / 2;
    before = x_texts[i];
  }
  return result;
}

std::string axis_label(const std::string& label, const Scale& scale) {
  return label + (scale.logarithmic() ? ", logarithmic" : "");
}

}  // namespace

double left_beside(const Scale& y) {
  constexpr double kLabel = 22, kGap = 7, kLeast = 56;
  double widest = 0;
  for (const auto& number : texts_at(y, y.ticks(kTicksOnY)))
    widest = std::max(widest, text_width(number));
  return std::max(kLeast, kLabel + widest + kGap);
}

Markup axes(const Frame& frame) {
  const auto turned =
      fmt::format("translate(13 {}) rotate(-90)", at((frame.top + frame.bottom) / 2));
  return ticks_of(frame) + rule("axis", frame.left, frame.bottom, frame.right, frame.bottom) +
         words((frame.left + frame.right) / 2, frame.bottom + 38, "label middle",
               axis_label(frame.x_label, frame.x)) +
         element("text", {{"class", "label middle"}, {"transform", turned}},
                 text(axis_label(frame.y_label, frame.y)));
}

}  // namespace ablate::report
