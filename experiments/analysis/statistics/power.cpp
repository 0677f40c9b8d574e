#include "experiments/analysis/statistics/power.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "data/random.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/inversion.h"
#include "experiments/analysis/statistics/sign_patterns.h"

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

/// The largest statistic of the samples but the first.
std::vector<double> largest_rival(const std::vector<std::vector<double>>& samples,
                                  const SignPatterns& patterns) {
  std::vector<double> largest(samples.size() > 1 ? patterns.size() : 0);
  for (size_t k = 1; k < samples.size(); ++k) {
    double squares = 0;
    for (const double value : samples[k]) squares += value * value;
    const double scale = 1 / std::sqrt(squares);
    const auto sums = patterns.sums(samples[k]);
    for (size_t i = 0; i < sums.size(); ++i)
      largest[i] = std::max(largest[i], std::abs(sums[i]) * scale);
  }
  return largest;
}

/// The intervals of the arm with the effect that agree with the test's first step.
class ArmIntervals {
 public:
  explicit ArmIntervals(const Design& design)
      : testing_(design.testing),
        level_((1 - kConfidence) /
               (design.testing == Testing::joint ? 1.0 : static_cast<double>(design.comparisons))),
        patterns_(design.seeds <= kMostEnumerated
                      ? SignPatterns::half(static_cast<size_t>(design.seeds))
                      : SignPatterns::drawn(static_cast<size_t>(design.seeds), kDrawn)),
        ones_(static_cast<size_t>(design.seeds), 1.0),
        counts_(patterns_.sums(ones_)) {}

  std::optional<Interval> of(const std::vector<std::vector<double>>& samples) const {
    if (testing_ == Testing::t) return t_interval_at(samples.front(), 1 - level_);
    const auto sums = patterns_.sums(samples.front());
    return supported({samples.front(), ones_, sums, counts_}, largest_rival(samples, patterns_),
                     patterns_above(level_, patterns_.size()));
  }

 private:
  Testing testing_;
  double level_;
  SignPatterns patterns_;
  std::vector<double> ones_, counts_;
};

/// The least effect that each study would claim, sorted. An arm whose sample is moved by an effect
/// is claimed if the interval of the sample itself leaves minus the effect out.
std::vector<double> claimed_effects(Design design) {
  const ArmIntervals intervals(design);
  if (design.testing != Testing::joint) design.comparisons = 1;  // the others play no part
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> effects;
  for (uint64_t study = 0; study < kPairsOfStudies; ++study) {
    const auto interval = intervals.of(draw_differences(design, study));
    effects.push_back(interval ? -interval->low : never);
    effects.push_back(interval ? interval->high : never);
  }
  std::ranges::sort(effects);
  return effects;
}

}  // namespace

double power_of(const Design& design, double effect) {
  if (design.seeds < 1) return 0;
  const auto effects = claimed_effects(design);
  const auto claimed = std::ranges::upper_bound(effects, std::abs(effect)) - effects.begin();
  return static_cast<double>(claimed) / static_cast<double>(effects.size());
}

std::optional<double> detectable_effect(const Design& design) {
  if (design.seeds < 1) return {};
  const auto effects = claimed_effects(design);
  const double place = std::ceil(kPlannedPower * static_cast<double>(effects.size())) - 1;
  const double effect = effects[static_cast<size_t>(place)];
  if (!std::isfinite(effect)) return {};
  return effect;
}

std::optional<int64_t> seeds_for(double effect, int64_t comparisons, int64_t most) {
  int64_t too_few = 0, enough = most + 1;
  while (enough - too_few > 1) {
    const int64_t seeds = (too_few + enough) / 2;
    (power_of({seeds, comparisons}, effect) < kPlannedPower ? too_few : enough) = seeds;
  }
  if (enough > most) return {};
  return enough;
}

}  // namespace ablate::statistics
