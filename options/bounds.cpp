#include "options/bounds.h"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace ablate::options {
namespace {

/// The digits of a number that a person would write; GCC 10's std::to_chars takes no double.
std::string text_of(double number) {
  std::ostringstream text;
  text << std::setprecision(15) << number;
  return text.str();
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
