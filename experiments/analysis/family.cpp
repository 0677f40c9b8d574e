#include "experiments/analysis/family.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "experiments/analysis/contrast.h"
#include "experiments/analysis/statistics/e_value.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/joint_test.h"
#include "experiments/analysis/statistics/power.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::analysis {
namespace {

using Values = std::vector<double>;

/// `centre` + sign * value of each; 0 if only rounding tells the two apart.
Values shifted(const Values& values, double sign, double centre) {
  Values moved;
  for (const double value : values)
    moved.push_back(statistics::difference_of(centre, -sign * value));
  return moved;
}

double difference_p(const Values& differences, config::PairedTest test) {
  switch (test) {
    case config::PairedTest::sign_flip:
      return statistics::sign_flip_p(differences);
    case config::PairedTest::t:
      return statistics::t_test_p(differences);
    case config::PairedTest::e_value:
      return statistics::e_value_p(differences);
  }
  return kUntested;
}

/// p of the hypothesis that the centre is at most 0.
double greater_p(const Values& values, config::PairedTest test) {
  if (test == config::PairedTest::t) return statistics::t_greater_p(values);
  if (test == config::PairedTest::e_value) return statistics::e_value_greater_p(values);
  return statistics::joint_sign_flip_p(std::vector<Values>{values}, statistics::Side::greater)
      .front();
}

bool same_seeds(const Family& family) {
  return std::ssize(family.tested) == family.comparisons &&
         std::ranges::all_of(family.tested, [&](const Tested& one) {
           return one.pairs == family.tested.front().pairs;
         });
}

bool is_tested_jointly(const Family& family) {
  return family.test == config::PairedTest::sign_flip && same_seeds(family);
}

void test_jointly(Family& family) {
  std::vector<Values> differences, baselines;
  for (const auto& one : family.tested) {
    differences.push_back(one.contrast->differences);
    baselines.push_back(one.baseline);
  }
  const auto joint = joint_of(family.correction);
  const auto p = statistics::joint_sign_flip_p(differences, statistics::Side::both, joint);
  const double level = kLevel / family.look_factor();
  const auto intervals = statistics::joint_sign_flip_intervals(differences, level, joint);
  const auto ratios = statistics::joint_ratio_intervals(differences, baselines, level, joint);
  for (size_t i = 0; i < family.tested.size(); ++i) {
    auto& contrast = *family.tested[i].contrast;
    contrast.difference.adjusted_p = p[i];
    contrast.interval = intervals[i];
    if (contrast.relative) contrast.relative->interval = ratios[i];
  }
}

/// What each p is multiplied by at the step of Holm's method that decides on it: its own step, or
/// the first one that rejects nothing.
std::vector<double> deciding_factors(const Values& p, double level) {
  std::vector<double> factors(p.size());
  auto left = static_cast<double>(p.size());
  bool rejects = true;
  for (const size_t i : statistics::ascending_order(p)) {
    rejects = rejects && left * p[i] <= level;
    factors[i] = left;
    if (rejects) --left;
  }
  return factors;
}

/// The comparisons that cannot be tested are not significant.
void add_untested(Values& p, int64_t comparisons) {
  p.resize(std::max(p.size(), static_cast<size_t>(comparisons)), 1);
}

void test_by_holm(Family& family) {
  Values p;
  for (const auto& one : family.tested) p.push_back(one.contrast->difference.p);
  add_untested(p, family.comparisons);
  const auto adjusted = statistics::holm(p);
  const double level_of_all = kLevel / family.look_factor();
  const auto factors = deciding_factors(p, level_of_all);
  for (size_t i = 0; i < family.tested.size(); ++i) {
    auto& contrast = *family.tested[i].contrast;
    contrast.difference.adjusted_p = adjusted[i];
    contrast.interval = interval_at(contrast.differences, family.test, level_of_all / factors[i]);
  }
}

/// The differences, positive where the arm is better.
Values gains_of(const Tested& one) {
  return shifted(one.contrast->differences, one.direction == Direction::higher ? 1 : -1, 0);
}

bool is_about_losses(const Contrast& contrast) {
  return contrast.claim.kind == config::ClaimKind::noninferior;
}

double within_p(const Tested& one, config::PairedTest test) {
  const double margin = *one.contrast->claim.margin;
  if (!is_about_losses(*one.contrast) && test == config::PairedTest::sign_flip)
    return statistics::equivalence_p(one.contrast->differences, margin);
  const auto gains = gains_of(one);
  const double no_loss = greater_p(shifted(gains, 1, margin), test);
  return is_about_losses(*one.contrast)
             ? no_loss
             : std::max(no_loss, greater_p(shifted(gains, -1, margin), test));
}

/// The one-sided hypotheses that an effect is beyond the margin, and whose they are.
struct BeyondMargin {
  std::vector<Values> samples;
  std::vector<Contrast*> of;
};

BeyondMargin beyond_margin(const Family& family) {
  BeyondMargin beyond;
  for (const auto& one : family.tested) {
    const auto& claim = one.contrast->claim;
    if (!claim.kind || !config::needs_margin(*claim.kind)) continue;
    const auto gains = gains_of(one);
    beyond.samples.push_back(shifted(gains, -1, -*claim.margin));
    beyond.of.push_back(one.contrast);
    if (is_about_losses(*one.contrast)) continue;
    beyond.samples.push_back(shifted(gains, 1, -*claim.margin));
    beyond.of.push_back(one.contrast);
  }
  return beyond;
}

void test_beyond(Family& family, bool jointly) {
  const auto beyond = beyond_margin(family);
  Values p, adjusted;
  for (const auto& sample : beyond.samples) p.push_back(greater_p(sample, family.test));
  if (jointly) {
    adjusted = statistics::joint_sign_flip_p(beyond.samples, statistics::Side::greater,
                                             joint_of(family.correction));
  } else {
    auto all = p;
    add_untested(all, 2 * family.with_margins);
    adjusted = statistics::holm(all);
  }
  for (size_t i = 0; i < p.size(); ++i) {
    auto& test = beyond.of[i]->beyond;
    test.p = std::fmin(test.p, p[i]);
    test.adjusted_p = std::fmin(test.adjusted_p, adjusted[i]);
  }
}

std::optional<statistics::Interval> within_interval(const Values& differences,
                                                    config::PairedTest test, double level) {
  if (test == config::PairedTest::t) return statistics::t_interval(differences, 1 - 2 * level);
  if (test == config::PairedTest::e_value) return {};
  return statistics::equivalence_interval(differences, level);
}

void test_within(Family& family) {
  Values p;
  std::vector<Contrast*> of;
  for (const auto& one : family.tested)
    if (one.contrast->claim.margin) {
      of.push_back(one.contrast);
      p.push_back(one.contrast->within.p = within_p(one, family.test));
    }
  add_untested(p, family.with_margins);
  const auto adjusted = statistics::holm(p);
  const double level = kLevel / family.look_factor();
  const auto factors = deciding_factors(p, level);
  for (size_t i = 0; i < of.size(); ++i) {
    of[i]->within.adjusted_p = adjusted[i];
    of[i]->within_interval = within_interval(of[i]->differences, family.test, level / factors[i]);
  }
}

/// The signs of the differences, which no size of a collapse changes.
Values signs_of(const Contrast& contrast) {
  Values signs;
  for (const double d : contrast.differences) signs.push_back(d > 0 ? 1 : d < 0 ? -1 : 0);
  return signs;
}

/// Whose signs are tested.
std::vector<Contrast*> with_signs(const Family& family) {
  std::vector<Contrast*> all;
  for (const auto& one : family.tested) all.push_back(one.contrast);
  all.insert(all.end(), family.infinite.begin(), family.infinite.end());
  return all;
}

void test_signs(const Family& family, bool jointly) {
  std::vector<Values> signs;
  Values p;
  const auto contrasts = with_signs(family);
  for (const auto* contrast : contrasts) {
    signs.push_back(signs_of(*contrast));
    p.push_back(statistics::sign_flip_p(signs.back()));
  }
  auto all = p;
  add_untested(all, family.comparisons);
  const auto adjusted = jointly ? statistics::joint_sign_flip_p(signs, statistics::Side::both,
                                                                joint_of(family.correction))
                                : statistics::holm(all);
  for (size_t i = 0; i < p.size(); ++i) contrasts[i]->sign = {p[i], adjusted[i]};
}

void add_relative(Tested& one) {
  const double mean = statistics::mean(one.baseline);
  if (mean > 0) one.contrast->relative = {.mean = one.contrast->mean / mean};
}

/// Corrects all p of the family for the looks before this one, too.
void correct_for_looks(Family& family) {
  const double factor = family.look_factor();
  for (auto* contrast : with_signs(family))
    for (auto* test :
         {&contrast->difference, &contrast->sign, &contrast->within, &contrast->beyond})
      if (!std::isnan(test->adjusted_p))
        test->adjusted_p = std::min(1.0, factor * test->adjusted_p);
}

int64_t seeds_needed(const Family& family, int64_t comparisons, double (*smallest)(int64_t)) {
  return statistics::differences_needed(kLevel / family.look_factor(),
                                        std::max<int64_t>(comparisons, 1), smallest);
}

}  // namespace

Correction test_family(Family& family) {
  if (with_signs(family).empty()) return Correction::none;
  for (auto& one : family.tested) {
    one.contrast->difference.p = difference_p(one.contrast->differences, family.test);
    add_relative(one);
  }
  const bool jointly = is_tested_jointly(family);
  if (jointly)
    test_jointly(family);
  else
    test_by_holm(family);
  test_within(family);
  test_beyond(family, jointly);
  if (family.test != config::PairedTest::e_value) test_signs(family, jointly);
  correct_for_looks(family);
  if (family.comparisons < 2) return Correction::none;
  if (!jointly) return Correction::holm;
  return family.correction == config::JointCorrection::min_p ? Correction::min_p
                                                             : Correction::joint;
}

void add_detectable(Family& family) {
  using statistics::Testing;
  const auto testing = same_seeds(family) || family.test != config::PairedTest::sign_flip
                           ? testing_of(family.test, family.correction)
                           : Testing::holm;
  std::map<int64_t, std::optional<double>> known;  // seeds -> effect
  for (auto& one : family.tested) {
    const auto [effect, fresh] = known.try_emplace(std::ssize(one.pairs));
    if (fresh)
      effect->second = statistics::detectable_size({.seeds = effect->first,
                                                    .comparisons = family.comparisons,
                                                    .testing = testing,
                                                    .look = family.look});
    const double deviation = statistics::deviation(one.contrast->differences);
    if (effect->second && deviation > 0) one.contrast->detectable = *effect->second * deviation;
  }
}

int64_t seeds_for_difference(const Family& family) {
  if (family.test == config::PairedTest::t) return 2;
  if (family.test == config::PairedTest::e_value)
    return seeds_needed(family, family.comparisons, statistics::smallest_e_value_p);
  return seeds_needed(family, same_seeds(family) ? 1 : family.comparisons,
                      statistics::smallest_sign_flip_p);
}

int64_t seeds_for_margin(const Family& family) {
  if (family.test == config::PairedTest::t) return 2;
  if (family.test == config::PairedTest::e_value)
    return seeds_needed(family, family.with_margins, statistics::smallest_e_value_greater_p);
  return seeds_needed(family, family.with_margins, statistics::smallest_equivalence_p);
}

}  // namespace ablate::analysis
