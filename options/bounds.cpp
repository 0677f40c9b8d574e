#include "options/bounds.h"

#include <array>
#include <charconv>
#include <cmath>

namespace ablate::options {
namespace {

std::string text_of(double number) {
  std::array<char, 32> text{};
  const bool plain = std::abs(number) < 1e9 && number == std::floor(number);
  const auto end = plain ? std::to_chars(text.begin(), text.end(), std::lround(number))
                         : std::to_chars(text.begin(), text.end(), number);
  return {text.data(), end.ptr};
}

}  // namespace

std::string text_of(const Bounds& bounds) {
  const bool lower = std::isfinite(bounds.low), upper = std::isfinite(bounds.high);
  const auto low = text_of(bounds.low), high = text_of(bounds.high);
  if (lower && upper && !bounds.above_low && !bounds.below_high)
    return "from " + low + " to " + high;
  const auto below = (bounds.below_high ? "below " : "at most ") + high;
  if (!lower) return below;
  const auto above = (bounds.above_low ? "above " : "at least ") + low;
  return upper ? above + " and " + below : above;
}

}  // namespace ablate::options
