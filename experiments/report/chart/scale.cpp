#include "experiments/report/chart/scale.h"

#include <algorithm>
#include <cmath>

namespace ablate::report {
namespace {

/// Numbers that differ by less, relative to their size, are one number; steps as small as that
/// would get lost in them.
constexpr double kRounding = 1e-12;

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
        if ((factor == 1 || decades < 1.5) && tick >= low_ && tick <= high_) ticks.push_back(tick);
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

Scale Extent::padded(double margin) const {
  if (!any()) return {0, 1};
  const double range = high_ - low_, size = std::max(std::abs(low_), std::abs(high_));
  if (range <= kRounding * size) {
    const double some = size == 0 ? 1 : size * 0.1;
    return {low_ - some, high_ + some};
  }
  return {low_ - margin * range, high_ + margin * range};
}

}  // namespace ablate::report
