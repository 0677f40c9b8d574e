#include "experiments/analysis/statistics/power.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "data/random.h"
#include "experiments/analysis/statistics/e_value.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/inversion.h"
#include "experiments/analysis/statistics/sign_patterns.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::statistics {
namespace {

constexpr uint64_t kPairsOfStudies = 1000;  // each with its mirror image
constexpr int64_t kMostEnumerated = 12;
constexpr int64_t kDrawn = 2047;

/// Box and Muller (1958), in (0, 1] for the logarithm.
double normal(data::Random& random) {
  const double radius = std::ldexp(static_cast<double>((random.next() >> 11U) + 1), -53);
  const double angle = std::ldexp(static_cast<double>(random.next() >> 11U), -53);
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * angle);
}

/// [comparison][seed]: without effects.
std::vector<std::vector<double>> draw_differences(const Design& design, uint64_t study) {
  data::Random random(kResamplingSeed, "power", study);
  const auto seeds = static_cast<size_t>(design.seeds);
  std::vector<std::vector<double>> samples(static_cast<size_t>(design.comparisons),
                                           std::vector<double>(seeds));
  for (size_t seed = 0; seed < seeds; ++seed) {
    const double baseline = normal(random);
    for (auto& sample : samples) sample[seed] = (normal(random) - baseline) / std::numbers::sqrt2;
  }
  return samples;
}

/// The largest statistic of the samples but the first, or the smallest own p.
std::vector<double> largest_rival(const std::vector<std::vector<double>>& samples,
                                  const SignPatterns& patterns, Testing testing) {
  std::vector<double> largest(samples.size() > 1 ? patterns.size() : 0,
                              -std::numeric_limits<double>::infinity());
  for (size_t k = 1; k < samples.size(); ++k) {
    double squares = 0;
    for (const double value : samples[k]) squares += value * value;
    const double scale = 1 / std::sqrt(squares);
    auto statistics = patterns.sums(samples[k]);
    for (double& sum : statistics) sum = std::abs(sum) * scale;
    if (testing == Testing::min_p) statistics = own_p_statistics(statistics, kRounding);
    for (size_t i = 0; i < statistics.size(); ++i) largest[i] = std::max(largest[i], statistics[i]);
  }
  return largest;
}

bool is_joint(const Design& design) {
  return (design.testing == Testing::joint || design.testing == Testing::min_p) &&
         design.aim == Aim::difference;
}

/// The intervals of the arm that agree with the test's first step: what they leave out is rejected
/// by the two-sided test of a difference or, at twice the level, by the one-sided test of that end.
class ArmIntervals {
 public:
  explicit ArmIntervals(const Design& design)
      : testing_(design.testing),
        level_((1 - kConfidence) * (design.aim == Aim::difference ? 1 : 2) /
               (is_joint(design) ? 1.0 : static_cast<double>(design.comparisons)) /
               look_factor(design.look)),
        patterns_(design.seeds <= kMostEnumerated
                      ? SignPatterns::half(static_cast<size_t>(design.seeds))
                      : SignPatterns::drawn(static_cast<size_t>(design.seeds), kDrawn)),
        ones_(static_cast<size_t>(design.seeds), 1.0),
        counts_(patterns_.sums(ones_)) {}

  std::optional<Interval> of(const std::vector<std::vector<double>>& samples) const {
    if (testing_ == Testing::t) return t_interval(samples.front(), 1 - level_);
    if (testing_ == Testing::e_value) return e_value_interval_at(samples.front(), level_);
    const auto sums = patterns_.sums(samples.front());
    const auto rivals = largest_rival(samples, patterns_, testing_);
    const auto invert = testing_ == Testing::min_p ? supported_by_own_p : supported;
    return invert({samples.front(), ones_, sums, counts_}, rivals,
                  patterns_above(level_, patterns_.size()));
  }

 private:
  Testing testing_;
  double level_;
  SignPatterns patterns_;
  std::vector<double> ones_, counts_;
};

/// The least sizes with which a study and its mirror image reach the aim, for an arm whose sample
/// without an effect has this interval. Of a moved sample the interval moves along.
std::array<double, 2> least_sizes(const Interval& interval, const Design& design) {
  const double low = -interval.low, high = interval.high, effect = std::abs(design.effect);
  if (design.aim == Aim::difference) return {low, high};
  if (design.aim == Aim::no_loss) return {low + effect, high + effect};
  return {std::max(low - effect, high + effect), std::max(high - effect, low + effect)};
}

/// The least sizes with which each study reaches the aim, sorted.
std::vector<double> reached_sizes(Design design) {
  const ArmIntervals intervals(design);
  if (!is_joint(design)) design.comparisons = 1;  // the others play no part
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> sizes;
  for (uint64_t study = 0; study < kPairsOfStudies; ++study) {
    const auto interval = intervals.of(draw_differences(design, study));
    const auto least = interval ? least_sizes(*interval, design) : std::array{never, never};
    sizes.insert(sizes.end(), least.begin(), least.end());
  }
  std::ranges::sort(sizes);
  return sizes;
}

}  // namespace

double power_of(const Design& design, double size) {
  if (design.seeds < 1) return 0;
  const auto sizes = reached_sizes(design);
  const auto reached = std::ranges::upper_bound(sizes, std::abs(size)) - sizes.begin();
  return static_cast<double>(reached) / static_cast<double>(sizes.size());
}

std::optional<double> detectable_size(const Design& design) {
  if (design.seeds < 1) return {};
  const auto sizes = reached_sizes(design);
  const double place = std::ceil(kPlannedPower * static_cast<double>(sizes.size())) - 1;
  const double size = sizes[static_cast<size_t>(place)];
  if (!std::isfinite(size)) return {};
  return size;
}

std::optional<int64_t> seeds_for(Design design, double size, int64_t most) {
  int64_t too_few = 0, enough = most + 1;
  while (enough - too_few > 1) {
    design.seeds = (too_few + enough) / 2;
    (power_of(design, size) < kPlannedPower ? too_few : enough) = design.seeds;
  }
  if (enough > most) return {};
  return enough;
}

}  // namespace ablate::statistics
