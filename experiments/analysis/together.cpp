#include "experiments/analysis/together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "experiments/analysis/contrast.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/errors.h"

namespace ablate::analysis {
namespace {

constexpr size_t kSettingsOfACoefficient = 3;
constexpr double kLevelOfAll = 1 - statistics::kConfidence;

/// An arm in one study.
struct ArmOfStudy {
  const Evidence* study;
  const TaskEvidence* task;
  const ArmEvidence* arm;
};

/// Keys that the arm gives other values than its baseline, without those that are searched for.
std::set<std::string> changed_keys(const ArmOfStudy& one) {
  std::set<std::string> keys;
  for (const auto& change : one.arm->changes) keys.insert(change.path);
  if (one.study->tuning)
    for (const auto& key : one.study->tuning->keys) keys.erase(key.path);
  return keys;
}

void check_same_change(const ArmOfStudy& one, const ArmOfStudy& other) {
  const auto keys = changed_keys(one), others = changed_keys(other);
  if (keys == others ||
      std::ranges::any_of(keys, [&](const auto& key) { return others.contains(key); }))
    return;
  throw UsageError(fmt::format(
      "the arm {} changes {} in {} and {} in {}, so that its effects are not of one thing; give "
      "one of them another name",
      one.arm->name, keys.empty() ? "nothing" : fmt::format("{}", fmt::join(keys, ", ")),
      one.study->study, others.empty() ? "nothing" : fmt::format("{}", fmt::join(others, ", ")),
      other.study->study));
}

/// The mean difference over the primary test sets for each seed; NaN if a run is missing.
std::optional<Sample> differences_of(const ArmOfStudy& one) {
  const auto* baseline = baseline_of(*one.task, *one.arm);
  if (baseline == nullptr) return {};
  std::vector<double> sums(one.study->seeds.size());
  double cells = 0;
  for (size_t i = 0; i < one.arm->cells.size(); ++i) {
    const auto& mine = one.arm->cells[i];
    const auto& reference = baseline->cells[i].sample;
    if (!mine.primary || is_censored(mine.sample) || is_censored(reference)) continue;
    ++cells;
    for (size_t seed = 0; seed < sums.size(); ++seed)
      sums[seed] += statistics::difference_of(mine.sample.values[seed], reference.values[seed]);
  }
  if (cells == 0) return {};
  for (double& sum : sums) sum /= cells;
  auto sample = sample_of(std::move(sums), statistics::kUnbounded);
  return sample.count < 2 ? std::nullopt : std::optional(std::move(sample));
}

double first_of(const std::optional<config::Range>& range) { return range ? range->front() : 0; }

/// Arms but controls by name and metric, in the order in which the studies name them.
std::vector<std::vector<ArmOfStudy>> arms_of(std::span<const Evidence> studies) {
  std::vector<ArmOfStudy> all;
  for (const auto& study : studies)
    for (const auto& task : study.tasks)
      for (const auto& arm : task.arms)
        if (!arm.baseline && !arm.control) all.push_back({&study, &task, &arm});
  std::vector<std::vector<ArmOfStudy>> groups;
  const auto key = [](const ArmOfStudy& one) { return std::pair(one.arm->name, one.task->metric); };
  for (const auto& [name_and_metric, group] : grouped(all, key)) {
    for (const auto& one : group) check_same_change(group.front(), one);
    groups.push_back(group);
  }
  return groups;
}

SettingEffect setting_of(const ArmOfStudy& one, Sample differences) {
  const auto* baseline = baseline_of(*one.task, *one.arm);
  return {.study = one.study->study,
          .setting = one.task->name,
          .parameters = static_cast<double>(baseline->parameters),
          .tokens_per_parameter = first_of(baseline->regime.tokens_per_parameter),
          .differences = std::move(differences)};
}

/// "one, copy (not learned)": a setting whose verdict allows no claim about a mean; empty of
/// others.
std::string left_out_words(const ArmOfStudy& one) {
  for (const auto& cell : one.arm->cells) {
    if (!cell.primary || !cell.contrast) continue;
    const auto verdict = cell.contrast->verdict;
    if (verdict == Verdict::not_learned || verdict == Verdict::unstable)
      return fmt::format("{}, {} ({})", one.study->study, one.task->name, display_name(verdict));
  }
  return "";
}

PooledArm gathered(const std::vector<ArmOfStudy>& group) {
  PooledArm pooled{.arm = group.front().arm->name, .metric = group.front().task->metric};
  std::set<std::string> studies;
  for (const auto& one : group) {
    auto differences = differences_of(one);
    if (!differences) continue;
    if (auto words = left_out_words(one); !words.empty()) {
      pooled.left_out.push_back(std::move(words));
      continue;
    }
    studies.insert(one.study->study);
    pooled.settings.push_back(setting_of(one, std::move(*differences)));
    for (const auto& cell : one.arm->cells) {
      if (!cell.primary || !cell.contrast) continue;
      pooled.direction = cell.direction;
      const auto& margin = cell.contrast->claim.margin;
      if (margin) pooled.margin = std::min(*margin, pooled.margin.value_or(*margin));
    }
  }
  pooled.studies = std::ssize(studies);
  return pooled;
}

/// The covariates of the regression: none, log parameters, or also log tokens a parameter.
std::vector<double> covariates_of(const SettingEffect& setting, size_t covariates) {
  std::vector<double> place{std::log10(setting.parameters),
                            std::log10(setting.tokens_per_parameter)};
  place.resize(covariates);
  return place;
}

std::vector<statistics::StudyEffect> effects_of(const PooledArm& arm, size_t covariates) {
  std::vector<statistics::StudyEffect> effects;
  for (const auto& setting : arm.settings) {
    const auto& sample = setting.differences;
    effects.push_back({.mean = sample.mean,
                       .error = sample.deviation / std::sqrt(static_cast<double>(sample.count)),
                       .place = covariates_of(setting, covariates)});
  }
  return effects;
}

/// The studies pooled with as many covariates as their settings can tell.
struct Fitted {
  statistics::PooledStudies studies;
  size_t covariates;
};

std::optional<Fitted> pooled_fit(const PooledArm& arm) {
  const auto known = [&](size_t covariates) {
    return std::ranges::all_of(arm.settings, [&](const SettingEffect& setting) {
      return statistics::all_finite(covariates_of(setting, covariates));
    });
  };
  for (const size_t covariates : {size_t{2}, size_t{1}, size_t{0}}) {
    if (arm.settings.size() < kSettingsOfACoefficient * (covariates + 1) || !known(covariates))
      continue;
    if (auto studies = statistics::PooledStudies::of(effects_of(arm, covariates)))
      return Fitted{std::move(*studies), covariates};
  }
  return {};
}

/// The place of a model of this size that reads as many tokens a parameter as the studies' middle.
std::vector<double> place_at(double parameters, const PooledArm& arm, size_t covariates) {
  double tokens = 0;
  for (const auto& setting : arm.settings) tokens += std::log10(setting.tokens_per_parameter);
  std::vector<double> place{std::log10(parameters),
                            tokens / static_cast<double>(arm.settings.size())};
  place.resize(covariates);
  return place;
}

PooledVerdict verdict_on(const statistics::Interval& prediction, const PooledArm& arm) {
  if (prediction.low > 0 || prediction.high < 0)
    return (prediction.low > 0) == (arm.direction == Direction::higher) ? PooledVerdict::better
                                                                        : PooledVerdict::worse;
  return arm.margin && -*arm.margin < prediction.low && prediction.high < *arm.margin
             ? PooledVerdict::within_margin
             : PooledVerdict::undecided;
}

bool is_near(double parameters, const PooledArm& arm) {
  const auto [least, most] = std::ranges::minmax(arm.settings, {}, &SettingEffect::parameters);
  return parameters >= least.parameters / kFarthest && parameters <= most.parameters * kFarthest;
}

void add_verdicts(PooledArm& arm, const Together& all) {
  const auto found = pooled_fit(arm);
  if (!found) {
    const auto settings = std::ssize(arm.settings);
    const auto still = std::ranges::count_if(arm.settings, [](const SettingEffect& setting) {
      return !(setting.differences.deviation > 0);
    });
    arm.no_verdict = fmt::format("{}{} setting{} with some scatter; pooling takes {}{}",
                                 still == 0 ? "" : fmt::format("{} of ", settings - still),
                                 settings, settings == 1 ? "" : "s", kSettingsOfACoefficient,
                                 still == 0 ? "" : ", and scatter in all");
    return;
  }
  constexpr std::array<const char*, 3> kSlopes{"", "parameters",
                                               "parameters and tokens a parameter"};
  arm.slope = kSlopes[found->covariates];
  arm.tau = found->studies.tau();
  for (const double parameters : all.sizes) {
    if (!is_near(parameters, arm)) continue;
    const auto effect =
        found->studies.at(place_at(parameters, arm, found->covariates), all.confidence);
    arm.sizes.push_back({parameters, effect, verdict_on(effect.prediction, arm)});
  }
}

/// The smallest baseline, the size between, the largest one, and those that are asked for.
std::vector<double> sizes_of(const std::vector<PooledArm>& arms, std::span<const double> wanted) {
  std::vector<double> all;
  for (const auto& arm : arms)
    for (const auto& setting : arm.settings) all.push_back(setting.parameters);
  std::set<double> sizes(wanted.begin(), wanted.end());
  if (!all.empty()) {
    const auto [least, most] = std::ranges::minmax(all);
    sizes.insert({least, std::round(std::sqrt(least * most)), most});
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace

Together pool(std::span<const Evidence> studies, std::span<const double> wanted) {
  if (studies.size() < 2)
    throw UsageError("--together pools two studies or more; name their folders");
  for (const auto& study : studies)
    if (!study.baseline)
      throw UsageError(fmt::format(
          "{} compares nothing, so it has no effects to pool; leave it out", study.study));
  Together all;
  for (const auto& group : arms_of(studies))
    if (auto arm = gathered(group); arm.settings.size() + arm.left_out.size() > 0)
      all.arms.push_back(std::move(arm));
  all.sizes = sizes_of(all.arms, wanted);
  all.confidence = 1 - kLevelOfAll / static_cast<double>(std::max<size_t>(1, all.arms.size()));
  for (auto& arm : all.arms) add_verdicts(arm, all);
  all.claims = claims_of(studies);
  all.false_alarms = false_alarms_of(studies);
  return all;
}

}  // namespace ablate::analysis
