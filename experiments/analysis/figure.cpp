#include "experiments/analysis/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/analysis/family.h"
#include "experiments/config/schema/option.h"

namespace ablate::analysis {
namespace {

int digits_of(const std::string& name) {
  const auto* metric = config::find_metric(name);
  return metric == nullptr ? config::Metric().digits : metric->digits;
}

std::string with_spaces(std::string words) {
  std::ranges::replace(words, '_', ' ');
  return words;
}

}  // namespace

std::string format_metric(double value, const std::string& metric) {
  return config::number_text(value, digits_of(metric));
}

std::string mean_figure(const Sample& sample, const std::string& metric) {
  if (!has_bounds(sample)) return value_beside(sample.mean, sample.interval, metric);
  if (std::isnan(sample.mean)) return "-";
  return (is_censored(sample) ? "> " : "< ") + format_metric(sample.mean, metric);
}

std::string value_figure(const Sample& sample, size_t i, const std::string& metric) {
  const bool above = is_censored(sample) && sample.censored[i];
  const bool below = !sample.at_once.empty() && sample.at_once[i];
  return (above ? "> " : below ? "< " : "") + format_metric(sample.values[i], metric);
}

std::string value_beside(double value, const std::optional<statistics::Interval>& interval,
                         const std::string& metric) {
  auto text = format_metric(value, metric);
  const bool looks_zero = text.find_first_of("123456789") == std::string::npos;
  const bool excludes_zero = interval && (interval->low > 0 || interval->high < 0);
  return looks_zero && excludes_zero && value != 0 ? fmt::format("{:.1g}", value) : text;
}

std::string positive_figure(double value, const std::string& metric) {
  return value_beside(value, statistics::Interval{value, value}, metric);
}

std::pair<std::string, std::string> interval_ends(const statistics::Interval& interval,
                                                  const std::string& metric) {
  return {value_beside(interval.low, interval, metric),
          value_beside(interval.high, interval, metric)};
}

std::string format_metric(const std::optional<statistics::Interval>& interval,
                          const std::string& metric) {
  if (!interval) return "";
  const auto [low, high] = interval_ends(*interval, metric);
  return fmt::format("[{}, {}]", low, high);
}

std::string estimate_figure(double mean, const std::optional<statistics::Interval>& interval,
                            const std::string& metric) {
  return value_beside(mean, interval, metric) +
         (interval ? " " + format_metric(interval, metric) : "");
}

std::string p_figure(double p) {
  constexpr int kMostDigits = 6;
  if (std::isnan(p)) return "-";
  if (p < 0.0005) return "< 0.001";
  int digits = p < 0.0995 ? 3 : 2;
  // 0.0503 is not 0.050, which would claim something.
  while (p > kLevel && digits < kMostDigits && p - kLevel < std::pow(10, -digits) / 2) ++digits;
  return fmt::format("{:.{}f}", p, digits);
}

std::string percent_figure(double percent) {
  return std::abs(percent) < 99.5 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
}

std::pair<double, const char*> unit_of(double number) {
  static constexpr std::array<std::pair<double, const char*>, 5> kUnits = {
      {{1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  for (const auto& unit : kUnits)
    if (std::abs(number) >= 0.9995 * unit.first) return unit;
  return {1, ""};
}

std::string count_figure(double number) {
  constexpr double kBeyondUnits = 999.5e15;
  if (!std::isfinite(number)) return "-";
  const auto [unit, name] = unit_of(number);
  if (unit == 1 || std::abs(number) >= kBeyondUnits) return fmt::format("{:.3g}", number);
  const double scaled = std::abs(number) / unit;
  return fmt::format("{:.{}f}{}", number / unit, scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0, name);
}

std::string parameters_figure(const ArmEvidence& arm) {
  if (arm.parameters == 0) return "-";
  auto figure = count_figure(arm.parameters);
  if (arm.active_parameters > 0 && arm.active_parameters < arm.parameters)
    figure = fmt::format("{} of {}", count_figure(arm.active_parameters), figure);
  if (arm.trained_parameters > 0 && arm.trained_parameters < arm.parameters)
    figure += fmt::format(", {} trained", count_figure(arm.trained_parameters));
  return figure;
}

std::string display_name(const std::string& name) {
  const auto* metric = config::find_metric(name);
  return metric == nullptr ? with_spaces(name) : metric->label;
}

std::string display_name(Verdict verdict) {
  if (verdict == Verdict::uneven) return "other seeds";
  if (verdict == Verdict::censored) return "only a bound";
  if (verdict == Verdict::not_tested) return "not finite";
  return with_spaces(config::word_of(verdict));
}

std::string verdict_figure(const Contrast& contrast) {
  const auto name = display_name(contrast.verdict);
  return contrast.verdict == Verdict::unstable ? name + ": " + contrast.collapsed : name;
}

std::string detectable_figure(const Contrast& contrast, const std::string& metric) {
  return is_tested(contrast.verdict) && contrast.detectable
             ? positive_figure(*contrast.detectable, metric)
             : "";
}

std::string detectable_words(const std::string& differences) {
  return "about 80 % of such studies would show a difference of " + differences;
}

std::string claim_words(const Contrast& contrast) {
  return contrast.outcome ? with_spaces(config::word_of(*contrast.outcome)) : "";
}

bool is_best(std::span<const double> means, size_t i, const Scored& scored) {
  if (std::isnan(means[i]) || scored.direction == Direction::neither) return false;
  const double sign = scored.direction == Direction::higher ? 1 : -1;
  const auto mine = format_metric(means[i], scored.metric);
  bool some_worse = false;
  for (const double other : means) {
    if (std::isnan(other) || format_metric(other, scored.metric) == mine) continue;
    if (sign * other > sign * means[i]) return false;
    some_worse = true;
  }
  return some_worse;
}

}  // namespace ablate::analysis
