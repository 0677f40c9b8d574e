#include "experiments/report/number.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "experiments/analysis/figure.h"

namespace ablate::report {

std::string typeset(const std::string& figures) {
  if (figures == "-") return "\u2013";
  std::string result;
  for (const char letter : figures) result += letter == '-' ? "\u2212" : std::string(1, letter);
  return result;
}

std::string score(double value, const std::string& metric) {
  return typeset(analysis::figure(value, metric));
}

std::string difference(double value, const std::string& metric) {
  const auto digits = analysis::figure(value, metric);
  const bool positive = value > 0 && digits.find_first_of("123456789i") != std::string::npos;
  return positive ? "+" + digits : typeset(digits);
}

std::string interval(const std::optional<statistics::Interval>& interval,
                     const std::string& metric) {
  return typeset(analysis::figure(interval, metric));
}

std::string fixed(double number, int decimals) {
  return typeset(std::isfinite(number) ? fmt::format("{:.{}f}", number, decimals) : "-");
}

std::string plain(double number) {
  return typeset(std::isfinite(number) ? fmt::format("{:.4g}", number + 0.0)  // -0 becomes 0
                                       : "-");
}

std::string large(double number) {
  static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  for (const auto& [unit, name] : kUnits)
    if (std::abs(number) >= 0.9995 * unit) {
      const double scaled = std::abs(number) / unit;
      return fixed(number / unit, scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0) + name;
    }
  return std::isfinite(number) ? typeset(fmt::format("{:.3g}", number)) : plain(number);
}

}  // namespace ablate::report
