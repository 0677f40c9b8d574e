#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/analysis/pooled_claims.h"
#include "experiments/analysis/statistics/pooling.h"
#include "options/enumeration.h"

namespace ablate::analysis {

/// The effect of an arm in one setting of a study: its mean difference over the primary test sets,
/// seed by seed.
struct SettingEffect {
  std::string study, setting;
  double parameters = 0;            // of the baseline
  double tokens_per_parameter = 0;  // of the baseline; 0: not known
  Sample differences;
};

/// The verdict on a further study of one size, by the prediction interval.
ABLATE_ENUM(PooledVerdict, better, worse, within_margin, undecided);

struct SizeVerdict {
  double parameters = 0;
  statistics::PooledEffect effect;
  PooledVerdict verdict = PooledVerdict::undecided;
};

/// One arm beside its baseline in all studies that have it.
struct PooledArm {
  std::string arm, metric;
  Direction direction = Direction::higher;
  std::optional<double> margin;  // the smallest of the studies'
  std::vector<SettingEffect> settings;
  std::vector<std::string>
      left_out;  // settings whose verdicts allow no claim about a mean, and why
  int64_t studies = 0;
  std::string slope;               // "parameters and tokens a parameter"; empty without a slope
  double tau = 0;                  // deviation of the settings' true effects
  std::vector<SizeVerdict> sizes;  // without those too far from all studies
  std::string no_verdict;          // the reason for having no sizes; empty otherwise
};

struct Together {
  std::vector<PooledArm> arms;
  std::vector<double> sizes;  // that verdicts are given for
  double confidence = 0;      // of the intervals, so that all arms together have 95 %
  std::vector<PooledClaim> claims;
  std::optional<FalseAlarms> false_alarms;  // absent if no control was tested
};

/// Sizes further than this factor from all studies of an arm get no verdict.
inline constexpr double kFarthest = 10;

/// Pools the arms of the same name and metric over all settings of the studies: random effects with
/// a slope over log parameters and log tokens a parameter if there are three settings for each
/// coefficient. Verdicts are given for the smallest and the largest baseline, the size between
/// them, and `wanted`. Throws UsageError if there are fewer than two studies, a study has no
/// comparison, or an arm of one study changes other keys than in another.
Together pool(std::span<const Evidence> studies, std::span<const double> wanted);

}  // namespace ablate::analysis
