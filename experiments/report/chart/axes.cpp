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
  for (const double tick : frame.y.ticks(5)) {
    const double y = frame.y.place(tick);
    result += rule("grid", frame.left, y, frame.right, y);
    result += words(frame.left - 7, y + 4, "tick end", plain(tick));
  }
  std::string before;
  for (const double tick : frame.x.ticks(frame.ticks)) {
    if (frame.whole && tick != std::round(tick)) continue;
    const double x = frame.x.place(tick);
    auto label = std::abs(tick) < 1e4 ? plain(tick) : short_text(tick);
    result += rule("axis", x, frame.bottom, x, frame.bottom + 4);
    // Ticks that are nearly equal read alike.
    if (label != before) result += words(x, frame.bottom + 17, "tick middle", label);
    before = std::move(label);
  }
  return result;
}

}  // namespace

Markup axes(const Frame& frame) {
  const auto turned =
      fmt::format("translate(13 {}) rotate(-90)", at((frame.top + frame.bottom) / 2));
  return ticks_of(frame) + rule("axis", frame.left, frame.bottom, frame.right, frame.bottom) +
         words((frame.left + frame.right) / 2, frame.bottom + 38, "label middle", frame.x_label) +
         element("text", {{"class", "label middle"}, {"transform", turned}}, text(frame.y_label));
}

}  // namespace ablate::report
