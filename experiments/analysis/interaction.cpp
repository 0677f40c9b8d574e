#include "experiments/analysis/interaction.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::analysis {
namespace {

/// Effects that differ by less, relative to their size, are one effect.
constexpr double kRounding = 1e-12;

}  // namespace

std::vector<double> centred_at_zero(std::vector<double> values) {
  const double middle = statistics::mean(values);
  const auto [low, high] = std::ranges::minmax(values);
  const bool alike = high - low <= kRounding * std::max(std::abs(low), std::abs(high));
  for (auto& value : values) value = alike ? 0 : value - middle;
  return values;
}

std::vector<double> over_rungs(const Effects& samples, size_t seed) {
  std::vector<double> values;
  for (const auto& sample : samples) values.push_back(sample.values[seed]);
  return statistics::all_finite(values) ? values : std::vector<double>{};
}

namespace {

/// The effects of an arm minus their mean over the rungs, for the seeds that all rungs have.
struct Centred {
  std::vector<size_t> seeds;
  std::vector<std::vector<double>> rungs;
};

Centred centred_effects(const Effects& effects) {
  Centred centred{.rungs = std::vector<std::vector<double>>(effects.size())};
  for (size_t seed = 0; seed < effects.front().values.size(); ++seed) {
    auto values = over_rungs(effects, seed);
    if (values.empty()) continue;
    values = centred_at_zero(std::move(values));
    centred.seeds.push_back(seed);
    for (size_t i = 0; i < values.size(); ++i) centred.rungs[i].push_back(values[i]);
  }
  return centred;
}

/// The smallest p of each arm's rungs, of the joint test of all of them.
std::vector<double> joint_interaction_p(const std::vector<Centred>& arms, statistics::Joint joint) {
  std::vector<std::vector<double>> samples;
  for (const auto& arm : arms) samples.insert(samples.end(), arm.rungs.begin(), arm.rungs.end());
  const auto p = statistics::joint_sign_flip_p(samples, statistics::Side::both, joint);
  std::vector<double> smallest;
  auto from = p.begin();
  for (const auto& arm : arms) {
    const auto to = from + std::ssize(arm.rungs);
    smallest.push_back(*std::min_element(from, to));
    from = to;
  }
  return smallest;
}

}  // namespace

std::vector<double> interaction_p(std::span<const Effects> effects, size_t comparisons,
                                  statistics::Joint joint) {
  std::vector<Centred> arms;
  for (const auto& arm : effects) arms.push_back(centred_effects(arm));
  const bool jointly =
      arms.size() == comparisons && std::ranges::all_of(arms, [&](const Centred& arm) {
        return arm.seeds.size() > 1 && arm.seeds == arms.front().seeds;
      });
  if (jointly) return joint_interaction_p(arms, joint);
  std::vector<double> p(std::max(arms.size(), comparisons), 1);
  for (size_t i = 0; i < arms.size(); ++i)
    if (arms[i].seeds.size() > 1) p[i] = joint_interaction_p({arms[i]}, joint).front();
  auto adjusted = statistics::holm(p);
  adjusted.resize(arms.size());
  for (size_t i = 0; i < arms.size(); ++i)
    if (arms[i].seeds.size() < 2) adjusted[i] = kUntested;
  return adjusted;
}

}  // namespace ablate::analysis
