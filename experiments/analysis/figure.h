#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// A score with as many digits after the point as its metric has; "-" of NaN.
std::string format_metric(double value, const std::string& metric);

/// The mean of a sample; "> 400" if it is a lower bound.
std::string mean_figure(const Sample& sample, const std::string& metric);

/// One value of a sample; "> 400" if it is a lower bound.
std::string value_figure(const Sample& sample, size_t i, const std::string& metric);

/// A mean or an end of an interval. One that is near zero has more digits than usual, so that an
/// interval without zero does not look as if it had it.
std::string value_beside(double value, const std::optional<statistics::Interval>& interval,
                         const std::string& metric);

/// A size above 0, which does not look as if it were 0.
std::string positive_figure(double value, const std::string& metric);

/// Both ends of an interval.
std::pair<std::string, std::string> interval_ends(const statistics::Interval& interval,
                                                  const std::string& metric);

/// "[0.020, 0.042]"; empty without an interval.
std::string format_metric(const std::optional<statistics::Interval>& interval,
                          const std::string& metric);

/// "0.031 [0.020, 0.042]": an estimate, with its interval if it has one.
std::string estimate_figure(double mean, const std::optional<statistics::Interval>& interval,
                            const std::string& metric);

/// "0.031", "< 0.001".
std::string p_figure(double p);

/// "3.2", "100" of 3.21 and 99.9 per cent: two significant digits, and all before the point.
std::string percent_figure(double percent);

/// The unit of a number in which it is shown, and its name: {1e6, " M"}; {1, ""} below a thousand.
std::pair<double, const char*> unit_of(double number);
/// Three digits and a unit: "1.06 M", "235 k", "12.4"; "-" if the number is not finite.
std::string count_figure(double number);
inline std::string count_figure(int64_t number) {
  return count_figure(static_cast<double>(number));
}

/// The parameters of an arm; "1,000 of 4,000" if a token uses only some of them, "4,000, 100
/// trained" if others are frozen; "-" if no run has finished.
std::string parameters_figure(const ArmEvidence& arm);

/// "exact match", "BLEU": the name of a metric in reports.
std::string display_name(const std::string& name);

/// "too few seeds": the name of a verdict in reports.
std::string display_name(Verdict verdict);

/// "worse", "unstable: 2 of 8 seeds": the verdict of a contrast in tables.
std::string verdict_figure(const Contrast& contrast);

/// The smallest difference that about 80 % of such studies would show; empty without a test.
std::string detectable_figure(const Contrast& contrast, const std::string& metric);

/// "about 80 % of such studies would show a difference of 0.01": the same in a sentence.
std::string detectable_words(const std::string& differences);

/// "agrees", "other sign", "inconclusive": the outcome of the declared claim; empty without one.
std::string claim_words(const Contrast& contrast);

/// A metric, and which of its values are better.
struct Scored {
  std::string metric;
  Direction direction;
};

/// Whether, as printed, no mean is better than mean `i` and at least one is worse. NaN is ignored;
/// false if the metric has no better direction.
bool is_best(std::span<const double> means, size_t i, const Scored& scored);

}  // namespace ablate::analysis
