#include "experiments/report/chart/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ablate::report {
namespace {

/// Numbers that differ by less, relative to their size, are one number; steps as small as that
/// would get lost in them.
constexpr double kRounding = 1e-12;

/// A logarithmic axis of up to so many decades has ticks at 1, 2 and 5 of each.
constexpr double kDecadesWithSteps = 3;

/// One of 1, 2, 5 and 10 times a power of ten, not far below `step`.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= 0.75 * step) return factor * power;
  return 10 * power;
}

}  // namespace

Scale::Scale(double low, double high, bool logarithmic)
    : low_(low), high_(high), logarithmic_(logarithmic) {}

Scale& Scale::over(double from, double to) {
  from_ = from;
  to_ = to;
  return *this;
}

double Scale::place(double number) const {
  const auto along = [this](double n) { return logarithmic_ ? std::log(n) : n; };
  return from_ + (to_ - from_) * (along(number) - along(low_)) / (along(high_) - along(low_));
}

std::vector<double> Scale::ticks(int wanted) const {
  std::vector<double> ticks;
  if (logarithmic_) {
    const double decades = std::log10(high_ / low_);
    const int stride = std::max(1, static_cast<int>(std::ceil(decades / (wanted + 1))));
    for (int power = static_cast<int>(std::floor(std::log10(low_))); std::pow(10.0, power) <= high_;
         power += stride)
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double tick = factor * std::pow(10.0, power);
        if ((factor == 1 || decades <= kDecadesWithSteps) && tick >= low_ && tick <= high_)
          ticks.push_back(tick);
      }
    return ticks;
  }
  const double step = round_step((high_ - low_) / wanted);
  for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ + 1e-9 * step; ++i)
    ticks.push_back(i * step + 0.0);  // -0 becomes 0
  return ticks;
}

void Extent::take(double number) {
  if (!std::isfinite(number)) return;
  const bool first = !any();
  low_ = first ? number : std::min(low_, number);
  high_ = first ? number : std::max(high_, number);
}

void Extent::take(const statistics::Interval& ends) {
  take(ends.low);
  take(ends.high);
}

Scale Extent::padded(double margin) const {
  if (!any()) return {0, 1};
  const double range = high_ - low_, size = std::max(std::abs(low_), std::abs(high_));
  if (range <= kRounding * size) {
    const double some = size == 0 ? 1 : size * 0.1;
    return {low_ - some, high_ + some};
  }
  return {low_ - margin * range, high_ + margin * range};
}

namespace {

constexpr std::array<const char*, kDashes> kDash = {"none", "7 3", "2 2.5", "9 3 2 3"};

/// Outlines about (0, 0), within 4 units.
constexpr std::array<const char*, kMarkers> kShape = {
    "M-3.6 0A3.6 3.6 0 1 1 3.6 0A3.6 3.6 0 1 1 -3.6 0Z",    // circle
    "M-3.3-3.3H3.3V3.3H-3.3Z",                              // square
    "M0-4.2L4 3H-4Z",                                       // triangle
    "M0-4.6L4.6 0L0 4.6L-4.6 0Z",                           // diamond
    "M0 4.2L4-3H-4Z",                                       // triangle, point down
    "M-1.2-4H1.2V-1.2H4V1.2H1.2V4H-1.2V1.2H-4V-1.2H-1.2Z",  // plus
    "M-4-2.4L-2.4-4L0-1.6L2.4-4L4-2.4L1.6 0L4 2.4L2.4 4L0 1.6L-2.4 4L-4 2.4L-1.6 0Z",  // cross
    "M-4.4-1.6H4.4V1.6H-4.4Z"};                                                        // bar

}  // namespace

// The cycle of colours is one shorter than that of markers, so that arms of one colour differ in
// their markers.
std::string Look::colour_class() const {
  return fmt::format("c{}", arm == 0 ? 0 : 1 + (arm - 1) % (kColours - 1));
}
std::string Look::dashes() const { return kDash[(arm + arm / kMarkers) % kDashes]; }
size_t Look::marker() const { return (arm + arm / kMarkers * (kMarkers / 2)) % kMarkers; }

Markup marker(const Look& look, double x, double y, const std::string& title) {
  return element("path",
                 {{"class", "mark"},
                  {"transform", fmt::format("translate({} {})", at(x), at(y))},
                  {"d", kShape[look.marker()]}},
                 title.empty() ? Markup() : element("title", {}, text(title)));
}

Markup swatch(const Look& look) {
  return element(
      "svg",
      {{"class", "swatch " + look.colour_class()},
       {"viewBox", "0 0 34 12"},
       {"width", "34"},
       {"height", "12"},
       {"aria-hidden", "true"}},
      element("path", {{"class", "line"}, {"stroke-dasharray", look.dashes()}, {"d", "M1 6H33"}}) +
          marker(look, 17, 6));
}

std::string at(double coordinate) {
  auto digits = fmt::format("{:.1f}", coordinate);
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  return digits == "-0" ? "0" : digits;
}

Markup path(const char* kind, const std::string& d) {
  return element("path", {{"class", kind}, {"d", d}});
}

Markup svg(const char* kind, const Size& size, const std::string& spoken, const Markup& content) {
  return element("svg",
                 {{"class", kind},
                  {"viewBox", fmt::format("0 0 {} {}", at(size.width), at(size.height))},
                  {"role", "img"},
                  {"aria-label", spoken}},
                 content);
}

Markup words(double x, double y, const char* kind, const std::string& what) {
  return element("text", {{"class", kind}, {"x", at(x)}, {"y", at(y)}}, text(what));
}

}  // namespace ablate::report
