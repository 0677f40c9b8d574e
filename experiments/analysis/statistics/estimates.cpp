#include "experiments/analysis/statistics/estimates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "data/random.h"
#include "experiments/analysis/statistics/sign_patterns.h"

namespace ablate::statistics {

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<Interval> t_interval(std::span<const double> values, const Interval& range) {
  const auto interval = t_interval_at(values, kConfidence);
  if (!interval) return {};
  return Interval{std::max(interval->low, range.low), std::min(interval->high, range.high)};
}

std::optional<Interval> t_interval_at(std::span<const double> values, double confidence) {
  const bool finite =
      std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  if (values.size() < 2 || !finite) return {};
  const double error = deviation(values) / std::sqrt(static_cast<double>(values.size()));
  const double half = t_quantile(std::ssize(values) - 1, confidence) * error;
  const double middle = mean(values);
  return Interval{middle - half, middle + half};
}

namespace {

/// P(|t| <= sqrt(degrees) tan(angle)) as a series in the angle's cosine (Abramowitz and Stegun
/// 1964, 26.7.3, 26.7.4), of which the probability takes the first terms and the tail all others.
class StudentSeries {
 public:
  StudentSeries(double angle, int64_t degrees)
      : angle_(angle),
        sine_(std::sin(angle)),
        cosine_(std::cos(angle)),
        odd_(degrees % 2 == 1),
        degrees_(degrees),
        power_(odd_ ? 1 : 0),
        term_(odd_ ? cosine_ : 1) {}

  double within() {
    double sum = 0;
    for (; power_ <= degrees_ - 2; advance()) sum += term_;
    return odd_ ? 2 / std::numbers::pi * (angle_ + sine_ * sum) : sine_ * sum;
  }

  /// After within(): the same less 1, without its loss of digits.
  double beyond() {
    double sum = 0;
    for (; sum + term_ > sum; advance()) sum += term_;
    return (odd_ ? 2 / std::numbers::pi : 1) * sine_ * sum;
  }

 private:
  void advance() {
    term_ *= cosine_ * cosine_ * static_cast<double>(power_ + 1) / static_cast<double>(power_ + 2);
    power_ += 2;
  }

  double angle_, sine_, cosine_;
  bool odd_;
  int64_t degrees_, power_;
  double term_;
};

}  // namespace

double t_quantile(int64_t degrees, double confidence) {
  double low = 0, high = std::numbers::pi / 2;
  for (double middle = high / 2; low < middle && middle < high; middle = (low + high) / 2)
    (StudentSeries(middle, degrees).within() < confidence ? low : high) = middle;
  return std::sqrt(static_cast<double>(degrees)) * std::tan(high);
}

double t_tail(double t, int64_t degrees) {
  const double tangent = std::abs(t) / std::sqrt(static_cast<double>(degrees));
  StudentSeries series(std::atan(tangent), degrees);
  const double within = series.within();
  return within < 0.999 ? 1 - within : series.beyond();
}

Interval wilson_interval(int64_t hits, int64_t count) {
  constexpr double z = kNormalQuantile;
  const auto n = static_cast<double>(count);
  const double share = static_cast<double>(hits) / n;
  const double scale = 1 + z * z / n;
  const double centre = (share + z * z / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

namespace {

constexpr size_t kSamples = 2000;

double middle_mean(std::vector<double>& all) {
  std::ranges::sort(all);
  const size_t cut = all.size() / 4;
  return mean(std::span(all).subspan(cut, all.size() - 2 * cut));
}

/// Linear between order statistics.
double percentile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

}  // namespace

double interquartile_mean(const TaskScores& scores) {
  std::vector<double> all;
  for (const auto& task : scores) all.insert(all.end(), task.begin(), task.end());
  return middle_mean(all);
}

Interval interquartile_interval(const TaskScores& scores) {
  data::Random random(kResamplingSeed);
  std::vector<double> means, sample;
  for (size_t i = 0; i < kSamples; ++i) {
    sample.clear();
    for (const auto& task : scores)
      for (size_t run = 0; run < task.size(); ++run)
        sample.push_back(task[static_cast<size_t>(random.below(std::ssize(task)))]);
    means.push_back(middle_mean(sample));
  }
  std::ranges::sort(means);
  return {percentile(means, (1 - kConfidence) / 2), percentile(means, (1 + kConfidence) / 2)};
}

double probability_greater(std::span<const double> left, std::span<const double> right) {
  double wins = 0;
  for (const double one : left)
    for (const double other : right) wins += one > other ? 1 : one == other ? 0.5 : 0;
  return wins / static_cast<double>(left.size() * right.size());
}

namespace {

bool has_logarithm(double number) { return std::isfinite(number) && number > 0; }

}  // namespace

double PowerLaw::at(double x) const { return factor * std::pow(x, exponent); }

std::optional<PowerLaw> fit_power_law(std::span<const Observation> observations) {
  std::set<double> sizes;
  double mean_x = 0, mean_y = 0;
  const auto count = static_cast<double>(observations.size());
  for (const auto& [x, y] : observations) {
    if (!has_logarithm(x) || !has_logarithm(y)) return {};
    sizes.insert(x);
    mean_x += std::log(x) / count;
    mean_y += std::log(y) / count;
  }
  if (sizes.size() < 3) return {};
  double xx = 0, xy = 0, yy = 0;
  for (const auto& [x, y] : observations) {
    const double dx = std::log(x) - mean_x, dy = std::log(y) - mean_y;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const double exponent = xy / xx;
  return PowerLaw{.factor = std::exp(mean_y - exponent * mean_x),
                  .exponent = exponent,
                  .r_squared = yy > 0 ? exponent * xy / yy : 1};
}

}  // namespace ablate::statistics
