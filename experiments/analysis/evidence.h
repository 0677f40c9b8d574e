#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/analysis/no_claim.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/forecast.h"
#include "experiments/analysis/statistics/power_law.h"
#include "experiments/analysis/tuned_curve.h"
#include "experiments/config/schema/metric.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/setting.h"
#include "experiments/records/failure.h"
#include "experiments/records/provenance.h"
#include "options/enumeration.h"

namespace ablate::analysis {

using config::Direction;

/// The values of a metric of one arm on one test set, one for each seed of `Evidence::seeds`.
struct Sample {
  std::vector<double> values;      // NaN: the run has not finished, or its value is undefined
  int64_t count = 0;               // values that are not NaN
  double mean = 0, deviation = 0;  // mean is NaN of no values, deviation of fewer than two
  /// 95 %: the centres that the study's test does not reject. Absent below six values, or two if
  /// the study declares the t test.
  std::optional<statistics::Interval> interval;
  /// Which values are lower bounds: those of runs that did not reach the target; empty without one.
  std::vector<bool> censored;
  /// Which values are upper bounds: of runs that were at the target at their first validation;
  /// empty without one. The mean of values with bounds of one kind is such a bound, too, and NaN
  /// with bounds of both kinds; deviation and interval are then not defined.
  std::vector<bool> at_once;
  /// Which values are far worse than the rest: statistics::collapsed_seeds(). Only of primary
  /// cells.
  std::vector<size_t> collapsed;
};

inline bool is_censored(const Sample& sample) { return !sample.censored.empty(); }
/// Whether a value is a bound.
inline bool has_bounds(const Sample& sample) {
  return is_censored(sample) || !sample.at_once.empty();
}

/// What the differences from the baseline show.
ABLATE_ENUM(
    Verdict, better, worse,
    equivalent,     // the difference is shown to be smaller than the margin
    no_worse,       // of a claim that an arm is no worse: it is shown to lose less than the margin
    inconclusive,   // none of these is shown
    unstable,       // some seeds of the arm or of the baseline collapsed
    too_few_seeds,  // the number of seeds cannot give a significant result
    not_learned,  // beyond the trained length, and one of the two did not learn the task within it
    uneven,       // the arm and the baseline have not finished the same seeds
    censored,     // cost to a target: a run has not reached it, or a pair has only upper bounds
    not_tested,   // a value is not finite
    crossed,      // runs share seeds, so that only components of variance are estimated
    exploratory   // not a primary metric and test set: shown, not tested
);

/// Whether the verdict is a claim about the arm.
constexpr bool is_claim(Verdict verdict) {
  return verdict == Verdict::better || verdict == Verdict::worse ||
         verdict == Verdict::equivalent || verdict == Verdict::no_worse;
}

/// Whether the verdict is that of a test.
constexpr bool is_tested(Verdict verdict) {
  return is_claim(verdict) || verdict == Verdict::inconclusive;
}

/// What the results say of the claim that the study declares of an arm.
ABLATE_ENUM(Outcome, agrees, other_sign,  // than the claimed one, of a difference that is shown
            beyond_margin,                // an effect that was claimed to be within it
            no_effect_of_that_size,  // no difference is shown, and the published one is left out
            inconclusive, not_learned);

inline constexpr double kUntested = std::numeric_limits<double>::quiet_NaN();

/// The p of a test, and the p after the correction for all comparisons of its family.
struct Test {
  double p = kUntested;
  double adjusted_p = kUntested;
};

/// How the p values of a family are corrected.
enum class Correction {
  none,   // a single comparison
  joint,  // signs are flipped in all arms together: joint_sign_flip_p(), by max_t
  min_p,  // the same, by min_p
  holm,   // of comparisons with different seeds, or of t tests
};
constexpr auto names(Correction) {
  return std::to_array<std::pair<Correction, std::string_view>>({{Correction::none, "none"},
                                                                 {Correction::joint, "joint"},
                                                                 {Correction::min_p, "min-P"},
                                                                 {Correction::holm, "Holm"}});
}

/// The difference as a share of the baseline's mean.
struct RelativeDifference {
  double mean = 0;
  std::optional<statistics::Interval> interval;
};

/// An arm minus the baseline, seed by seed.
struct Contrast {
  std::vector<double> differences;  // of the seeds that both arms have
  double mean = 0;
  /// 95 %: the differences that the test does not reject, of a primary cell by the corrected test,
  /// so it contains 0 exactly if no difference is shown.
  std::optional<statistics::Interval> interval;
  std::optional<RelativeDifference> relative;         // of primary cells with a positive baseline
  config::ArmClaim claim;                             // that the study declares
  std::optional<statistics::ForecastScore> forecast;  // of the claim's forecast
  Test difference;                                    // that there is one, in either direction
  Test within;  // that it is smaller than the margin; of `noninferior`, that the loss is
  /// 90 %: within the margin if and only if the corrected test shows an equivalence. Absent
  /// without a margin, of e-values, and if the seeds are too few for such a test.
  std::optional<statistics::Interval> within_interval;
  Test beyond;  // of claims of equality or of no loss: that it is greater than the margin
  Test sign;    // that one direction is more frequent among the seeds; not of e-values
  /// The smallest difference that such a study would show with a probability of 80 %.
  std::optional<double> detectable;
  double improvement = 0.5;  // probability that the arm is better; NaN if neither direction is
  Verdict verdict = Verdict::exploratory;
  std::optional<NoClaim> no_claim;   // of primary cells whose verdict is not that of a test
  std::optional<Outcome> outcome;    // of the declared claim, by itself
  std::vector<std::string> outside;  // why the study is outside the regime of the claim's source
  std::string collapsed;             // "2 of 8 seeds", or empty
  std::string sentence;              // the verdict in words, with its figures
};

/// How often a task was solved: in seeds with at least 95 % of the examples right.
struct SuccessRate {
  int64_t solved = 0, runs = 0;
  statistics::Interval interval;  // Wilson, 95 %
};

/// Whether the outputs of two runs differ significantly on this test set; other seeds are not
/// considered.
struct SentenceTest {
  int64_t seed = 0;
  double difference = 0;
  double bootstrap_p = 1;      // paired bootstrap (Koehn 2004), as sacreBLEU
  double randomisation_p = 1;  // approximate randomisation (Riezler and Maxwell 2005), as sacreBLEU
};

/// The deviations that initial values and the order of the data add to an arm's metric on a test
/// set, in a study of crossed seeds.
struct SeedComponents {
  std::string arm, test_set, metric;
  bool difference = false;                            // of the differences from the baseline
  int64_t initializations = 0, orders = 0;            // seeds of each kind
  double initialization = 0, order = 0, rest = 0;     // standard deviations
  double error = 0;                                   // the standard error of the mean
  double own_error = 0;                               // of as many runs, each with seeds of its own
  int64_t best_initializations = 0, best_orders = 0;  // of as many crossed runs
  double best_error = 0;                              // of those
  std::string sentence;                               // the same in words, with advice
};

/// One metric of one arm on one test set.
struct Cell {
  std::string test_set;       // empty: of training or validation
  int64_t length = 0;         // of the test set's sources, in `unit`; 0: lengths vary
  std::string unit;           // "symbols" or "digits"; empty without a length
  bool extrapolates = false;  // the test set is longer than anything in training
  /// How the test sets are averaged to one number for each seed; absent: it is of a single one.
  std::optional<config::Over> over;
  std::string metric;
  Direction direction = Direction::higher;
  bool primary = false;    // a metric and test set of claims
  bool in_tables = false;  // in all tables, or used by compare or expect of the study
  bool best = false;       // no arm's printed mean is better, and one is worse
  statistics::Interval range = statistics::kUnbounded;  // possible values of the metric
  Sample sample;
  std::optional<NoClaim> unlearned;          // over tasks: those that an arm did not learn
  std::optional<Contrast> contrast;          // absent if there are no values or no baseline
  std::optional<SuccessRate> success;        // for metrics that are shares of right examples
  std::vector<SentenceTest> sentence_tests;  // of BLEU and chrF, if run folders have outputs
};

/// Whether a figure is exact, or the true one is above it or below it; of an open one, which has
/// bounds on either side, nothing is known.
ABLATE_ENUM(Bound, exact, above, below, open);

/// What an arm spends to reach the study's target / what its baseline spends, seed by seed.
struct CostRatio {
  config::Resource resource{};
  std::vector<double> values;  // one for each seed; NaN: open, or a run is missing
  std::vector<Bound> bounds;   // of the values
  double mean = kUntested;     // geometric; NaN if a value is a bound, for no mean is known then
  std::optional<statistics::Interval> interval;  // 95 %, of the mean; absent below two values
};

/// A key that an arm gives another value than the baseline.
struct ChangedKey {
  std::string path, baseline, value;
};

struct ArmEvidence {
  std::string name;
  bool baseline = false;  // other arms are compared with it
  bool control = false;   // the baseline with other random numbers, of compare.control
  std::vector<ChangedKey> changes;
  int64_t parameters = 0, active_parameters = 0, trained_parameters = 0;
  int64_t table_parameters = 0;  // of all, those of the tables of tokens
  double flops_per_token = 0;
  config::RegimeOptions regime;  // of the first run that has finished
  // Of the runs that were trained:
  Sample steps, tokens, training_flops, training_seconds, tokens_per_second, memory_bytes;
  std::vector<Cell> cells;  // every metric of every test set, the same ones in every arm of a task
  std::vector<CostRatio> cost_ratios;  // of each resource; empty for baselines, without a target
};

/// Null if the arm has no such cell.
inline const Cell* find_cell(const ArmEvidence& arm, const std::string& test_set,
                             const std::string& metric) {
  for (const auto& cell : arm.cells)
    if (cell.test_set == test_set && cell.metric == metric) return &cell;
  return nullptr;
}

/// A metric as a power of the number of parameters, over the arms of a task or over its settings.
struct SizeFit {
  std::string test_set, metric;
  statistics::PowerLaw law;  // of the means
  Sample exponents;          // of each seed
};

struct TaskEvidence {
  std::string name;  // of its setting
  config::Setting setting;
  std::string metric;             // the primary one of this task; empty without a comparison
  std::string declared_metric;    // the same, also if the baseline is not among the selected arms
  std::string target;             // of the cost to it, in words; empty without one
  std::optional<double> margin;   // the study's; arms may declare another one
  std::vector<ArmEvidence> arms;  // in the study's order
  bool same_tokens = true;        // all arms cut the targets into the same tokens
  int64_t comparisons = 0;        // primary ones of the file: the family
  int64_t with_margins = 0;       // of these, those with a margin: a family of their own
  Correction correction = Correction::none;
  std::string family;         // both in words; empty without comparisons
  std::vector<SizeFit> fits;  // over the arms, if the study asks for them and has no sizes
  std::vector<SeedComponents> components;  // if every pair of crossed seeds has finished
  /// The names of the settings, one of each task, whose mean it has; empty: it is a setting itself.
  std::vector<std::string> parts;
};

/// The number of declared tasks; each may have several settings.
inline int64_t count_declared_tasks(const std::vector<TaskEvidence>& settings) {
  std::set<std::string> tasks;
  for (const auto& setting : settings)
    if (setting.parts.empty()) tasks.insert(setting.setting.task);
  return std::ssize(tasks);
}

/// The baseline of the task; null if the study has none.
inline const ArmEvidence* baseline_of(const TaskEvidence& task) {
  for (const auto& arm : task.arms)
    if (arm.baseline) return &arm;
  return nullptr;
}

/// The baseline of `arm`; null if it is a baseline itself or the study has no baseline.
inline const ArmEvidence* baseline_of(const TaskEvidence& task, const ArmEvidence& arm) {
  return arm.baseline ? nullptr : baseline_of(task);
}

/// The task of means over all tasks. No declared task has a name with a space.
inline constexpr const char* kAllTasks = "all tasks";

/// The axis of a ladder over the study's sizes; all others are keys of its grid.
inline constexpr const char* kSizeAxis = "size";

/// One setting of a ladder.
struct Rung {
  std::string setting;   // TaskEvidence::name
  std::string label;     // the size or the value
  double x = kUntested;  // the baseline's parameters, NaN before a run has finished; or the value
};

/// An arm over the rungs of a ladder. Slopes, interactions and best values are each corrected for
/// the arms of the ladder, but not for other ladders.
struct LadderArm {
  std::string name;
  std::string baseline;        // empty: it is one itself
  std::vector<Sample> scores;  // at each rung
  /// Arm minus baseline at each rung, by seed, with the interval of the rung's contrast. Empty of a
  /// baseline.
  std::vector<Sample> effects;
  std::vector<double> p;           // of each effect, corrected as the rung's verdict is
  std::vector<CostRatio> compute;  // at each size, to the baseline for the same value; may be empty
  std::vector<CostRatio> time;     // of training at each size; empty of a baseline, or unmeasured
  /// The rungs whose verdicts allow no claim, in words. If there are any, the arm has no slope, no
  /// interaction, no turn and no best effect.
  std::string no_claim;
  /// The least-squares slope of each seed's effects over x, per factor of ten of x if the ladder is
  /// logarithmic, else per unit. Without values if the rungs' x are not distinct.
  Sample slope;
  double slope_p = kUntested;
  double interaction_p = kUntested;  // of the hypothesis that the effect is the same at every rung
  bool turns = false;                // the intervals at two rungs exclude zero on opposite sides
  /// If it turns: where the line through the mean effects is zero, between the rungs.
  std::optional<double> crossing;
  // Over the values of a key, not over sizes:
  std::optional<Sample> best;         // each seed's best score over the rungs
  std::vector<int64_t> best_at;       // seeds whose best score is at each rung
  std::optional<Sample> best_effect;  // minus the baseline's best
  double best_p = kUntested;
  std::optional<SizeFit> fit;  // of the arm over the rungs, if the study asks for it
  std::string sentence;        // of the slope, the interaction and the best, in words
};

/// The effects of a study's arms over its sizes or over a key of its grid, for the primary metric
/// of one task on one test set.
struct Ladder {
  std::string task;  // as declared
  std::string axis;  // kSizeAxis or the key
  std::string at;    // the other coordinates: "small, layers=2"
  std::string test_set, metric;
  Direction direction = Direction::higher;
  bool logarithmic = false;  // slopes are over log x, since every x is positive
  std::vector<Rung> rungs;   // from the least to the largest x
  std::vector<LadderArm> arms;
};

/// An arm's primary metric over all tasks, in all their settings, each on its first test set within
/// the trained length (Agarwal et al. 2021).
struct Aggregate {
  std::string arm;
  double interquartile_mean = 0;
  statistics::Interval interval;      // 95 %, of a bootstrap within each setting
  std::optional<double> improvement;  // mean over settings of the probability of improvement
  int64_t tasks = 0, settings = 0;    // that are pooled
};

/// What was tried for one arm in one task, and what was chosen.
struct TunedArm {
  config::ArmSearch search;
  /// How much the loss depends on the values (Wortsman et al. 2023, section 2.2): the mean over the
  /// file's combinations of the validation loss in nats, less the loss of the best combination. NaN
  /// if one diverged, the search has not ended, or values were not chosen by perplexity.
  double sensitivity = kUntested;
  std::optional<TunedCurve> curve;  // of a study by curve; the chosen value is the nearest to it
  std::optional<TunedGain> gain;    // over the baseline; absent of this, and without one
};

/// The choice of tuned values.
struct TuningEvidence {
  std::vector<config::TunedKey> keys;
  std::string metric;  // of the validation set
  config::TunedBy by = config::TunedBy::shared;
  std::vector<int64_t> seeds;  // of the tried runs; by seed those of the study's seeds in turn
  std::vector<TunedArm> arms;
};

struct Expectation {
  std::string text;
  bool holds = false;
  std::string numbers;  // both sides, as they were compared
};

/// All results of a study's runs. Every report prints from this value.
struct Evidence {
  std::string study, question;
  bool confirmatory = false;  // records::standing_of()
  std::string standing;       // "Confirmatory: ..." or "Exploratory: ..."
  std::string answer;         // a few sentences, from the verdicts
  std::optional<std::string> baseline;
  std::optional<std::string> declared_baseline;  // also if it is not among the selected arms
  std::string metric;                            // primary; empty without a comparison
  std::vector<int64_t> seeds;
  std::vector<TaskEvidence> tasks;
  std::vector<Ladder> ladders;           // if it has sizes, or arms and a grid
  std::vector<Aggregate> aggregates;     // if there are two declared tasks or more
  std::optional<TuningEvidence> tuning;  // of a study that tunes keys
  std::vector<Expectation> expectations;
  std::vector<records::MissingRun> missing;
  std::vector<std::string> notes;  // limits of the evidence, and the scorers' signatures
  records::Provenance provenance;
};

}  // namespace ablate::analysis
