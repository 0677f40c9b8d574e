#include "experiments/report/chart/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace ablate::report {

Markup rule(const char* kind, double from_x, double from_y, double to_x, double to_y) {
  return element("path",
                 {{"class", kind},
                  {"d", fmt::format("M{} {}L{} {}", at(from_x), at(from_y), at(to_x), at(to_y))}});
}

namespace {

constexpr double kTickLetter = 7.6;  // of a narrow page, where they are largest
constexpr int kTicksOnY = 5;

double text_width(const std::string& text) {
  return kTickLetter * static_cast<double>(std::ranges::count_if(text, [](char byte) {
           return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
         }));
}

/// "20 k", "2.5 M"
std::string short_text(double tick) {
  auto digits = large(tick);
  const auto end = std::min(digits.find(' '), digits.size()), dot = digits.find('.');
  if (dot > end) return digits;
  const auto last = digits.find_last_not_of('0', end - 1);
  return digits.substr(0, last == dot ? dot : last + 1) + digits.substr(end);
}

Markup ticks_of(const Frame& frame) {
  Markup result;
  for (const double tick : frame.y.ticks(kTicksOnY)) {
    const double y = frame.y.place(tick);
    result += rule("grid", frame.left, y, frame.right, y);
    result += words(frame.left - 7, y + 4, "tick end", plain(tick));
  }
  std::string before;
  double free = 0;
  for (const double tick : frame.at_x.empty() ? frame.x.ticks(frame.ticks) : frame.at_x) {
    if (frame.whole && tick != std::round(tick)) continue;
    const double x = frame.x.place(tick);
    auto label = std::abs(tick) < 1e4 ? plain(tick) : short_text(tick);
    result += rule("axis", x, frame.bottom, x, frame.bottom + 4);
    // Ticks that are nearly equal read alike.
    if (label == before || x - text_width(label) / 2 < free) continue;
    result += words(x, frame.bottom + 17, "tick middle", label);
    free = x + text_width(label) / 2 + kTickLetter / 2;
    before = std::move(label);
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
  for (const double tick : y.ticks(kTicksOnY)) widest = std::max(widest, text_width(plain(tick)));
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
