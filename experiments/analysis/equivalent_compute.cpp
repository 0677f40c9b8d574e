#include "experiments/analysis/equivalent_compute.h"

#include <algorithm>
#include <cmath>

#include "experiments/analysis/cost.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/power_law.h"

namespace ablate::analysis {
namespace {

constexpr double kFarthest = 10;  // beyond the least and the most that the baseline's runs took

/// The law of one seed's baseline, and the least and the most FLOPs of its runs.
struct Reach {
  statistics::PowerLaw law;
  double least, most;

  /// The FLOPs with which the baseline reaches the value; NaN if that is too far beyond its runs.
  double flops_for(double value) const {
    const double flops = std::pow(value / law.factor, 1 / law.exponent);
    return flops >= least / kFarthest && flops <= most * kFarthest ? flops : kUntested;
  }
};

std::optional<Reach> reach_of(std::span<const Trained> baseline, size_t seed) {
  std::vector<statistics::Observation> observations;
  for (const auto& [flops, values] : baseline)
    observations.push_back({flops->values[seed], values->values[seed]});
  const auto law = statistics::fit_power_law(observations);
  if (!law || law->exponent >= 0) return {};
  const auto [least, most] = std::ranges::minmax(observations, {}, &statistics::Observation::x);
  return Reach{.law = *law, .least = least.x, .most = most.x};
}

/// The geometric mean of the exponentials, if no seed lacks one.
CostRatio mean_ratio(config::Resource resource, const std::vector<double>& logarithms) {
  CostRatio ratio{.resource = resource};
  for (const double one : logarithms) ratio.values.push_back(std::exp(one));
  ratio.bounds.assign(ratio.values.size(), Bound::exact);
  if (statistics::all_finite(logarithms)) set_mean(ratio, logarithms);
  return ratio;
}

}  // namespace

std::vector<CostRatio> compute_ratios(std::span<const Trained> arm,
                                      std::span<const Trained> baseline) {
  std::vector<std::vector<double>> logarithms(arm.size());
  for (size_t seed = 0; seed < arm.front().values->values.size(); ++seed) {
    const auto reach = reach_of(baseline, seed);
    for (size_t size = 0; size < arm.size(); ++size) {
      const double value = arm[size].values->values[seed];
      logarithms[size].push_back(
          reach ? std::log(arm[size].flops->values[seed] / reach->flops_for(value)) : kUntested);
    }
  }
  std::vector<CostRatio> ratios;
  for (const auto& all : logarithms) ratios.push_back(mean_ratio(config::Resource::flops, all));
  const bool any = std::ranges::any_of(ratios, [](const auto& one) { return one.mean > 0; });
  return any ? ratios : std::vector<CostRatio>();
}

CostRatio time_ratio(const Sample& arm, const Sample& baseline) {
  std::vector<double> logarithms;
  for (size_t seed = 0; seed < arm.values.size(); ++seed) {
    const double own = arm.values[seed], other = baseline.values[seed];
    logarithms.push_back(own > 0 && other > 0 ? std::log(own / other) : kUntested);
  }
  return mean_ratio(config::Resource::seconds, logarithms);
}

}  // namespace ablate::analysis
