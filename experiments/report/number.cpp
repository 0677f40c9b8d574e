#include "experiments/report/number.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace ablate::experiments {
namespace {

const std::string kMinus = "\u2212", kNone = "\u2013";

/// "-0.000" is 0.000.
std::string typeset(std::string digits) {
  if (digits.starts_with('-')) {
    digits.erase(0, 1);
    if (digits.find_first_not_of("0.") != std::string::npos) return kMinus + digits;
  }
  return digits;
}

}  // namespace

std::string fixed(double number, int decimals) {
  return std::isfinite(number) ? typeset(fmt::format("{:.{}f}", number, decimals)) : kNone;
}

std::string difference(double number, int decimals) {
  const auto digits = fixed(number, decimals);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return number > 0 && std::isfinite(number) && !zero ? "+" + digits : digits;
}

std::string interval(const statistics::Interval& interval, int decimals) {
  return fmt::format("[{}, {}]", fixed(interval.low, decimals), fixed(interval.high, decimals));
}

std::string probability(double p) {
  if (!std::isfinite(p)) return kNone;
  if (p < 0.0001) return "< 0.0001";
  return fmt::format("{:.{}f}", p, p < 0.001 ? 4 : 3);
}

std::string large(double number) {
  if (!std::isfinite(number)) return kNone;
  static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  for (const auto& [unit, name] : kUnits)
    if (std::abs(number) >= 0.9995 * unit) {
      const double scaled = number / unit;
      const int decimals = std::abs(scaled) < 9.995 ? 2 : std::abs(scaled) < 99.95 ? 1 : 0;
      return fixed(scaled, decimals) + name;
    }
  return plain(number);
}

std::string plain(double number) {
  if (!std::isfinite(number)) return kNone;
  return typeset(fmt::format("{:.4g}", number));
}

int decimals_of(const std::string& metric) { return metric == "bleu" || metric == "chrf" ? 1 : 3; }

}  // namespace ablate::experiments
