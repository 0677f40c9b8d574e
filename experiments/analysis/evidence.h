#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/config/schema/metric.h"
#include "experiments/records/failure.h"

namespace ablate::analysis {

using config::Direction;

/// The values of a metric of one arm on one test set, one for each seed of `Evidence::seeds`.
struct Sample {
  std::vector<double> values;      // NaN: the run has not finished, or its value is undefined
  int64_t count = 0;               // values that are not NaN
  double mean = 0, deviation = 0;  // mean is NaN of no values, deviation of fewer than two
  /// 95 % t-interval of the mean, clipped to the metric's range; absent below two values.
  std::optional<statistics::Interval> interval;
  /// Which values are lower bounds: the last step of a run that did not reach the target; empty if
  /// none is. If any is, the mean is a lower bound, too, and deviation and interval are not
  /// defined.
  std::vector<bool> censored;
};

inline bool is_censored(const Sample& sample) { return !sample.censored.empty(); }

/// Conclusion from the differences from the baseline.
enum class Verdict {
  better,
  worse,
  equivalent,         // the difference is shown to be smaller than the study's margin
  indistinguishable,  // no difference is shown, and the study declares no margin
  undecided,          // neither a difference nor, by the study's margin, equivalence is shown
  too_few_seeds,      // the number of seeds cannot give a significant result
  not_learned,        // beyond the trained length, of a task that is not learned within it
  uneven,             // the arm and the baseline have not finished the same seeds
  censored,           // steps to a target: a run has not reached it
  not_tested,         // a value is not finite
  exploratory,        // not a primary metric and test set: shown, not tested
};
constexpr auto names(Verdict) {
  return std::to_array<std::pair<Verdict, std::string_view>>(
      {{Verdict::better, "better"},
       {Verdict::worse, "worse"},
       {Verdict::equivalent, "equivalent"},
       {Verdict::indistinguishable, "indistinguishable"},
       {Verdict::undecided, "undecided"},
       {Verdict::too_few_seeds, "too_few_seeds"},
       {Verdict::not_learned, "not_learned"},
       {Verdict::uneven, "uneven"},
       {Verdict::censored, "censored"},
       {Verdict::not_tested, "not_tested"},
       {Verdict::exploratory, "exploratory"}});
}

inline constexpr double kUntested = std::numeric_limits<double>::quiet_NaN();

/// The p of a test, uncorrected and with Holm's correction over the task's comparisons.
struct Test {
  double p = kUntested;
  double holm_p = kUntested;
};

/// An arm minus the baseline, seed by seed.
struct Contrast {
  std::vector<double> differences;  // of the seeds that both arms have
  double mean = 0;
  std::optional<statistics::Interval> interval;  // 95 % t-interval of the mean, clipped
  Test difference;                               // exact sign-flip test, two-sided
  Test equivalence;                              // two one-sided tests of the task's margin
  double improvement = 0.5;  // probability that the arm is better; NaN if neither direction is
  Verdict verdict = Verdict::exploratory;
  std::string sentence;  // the verdict in words, with its figures
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

/// One metric of one arm on one test set.
struct Cell {
  std::string test_set;       // empty: of training or validation
  int64_t length = 0;         // of the test set's sources, in `unit`; 0: lengths vary
  std::string unit;           // "symbols" or "digits"; empty without a length
  bool extrapolates = false;  // the test set is longer than anything in training
  std::string metric;
  Direction direction = Direction::higher;
  bool primary = false;    // a metric and test set of claims
  bool in_tables = false;  // in all tables, or used by compare or expect of the study
  bool best = false;       // no arm's printed mean is better, and one is worse
  statistics::Interval range = statistics::kUnbounded;  // possible values of the metric
  Sample sample;
  std::optional<Contrast> contrast;          // absent if there are no values or no baseline
  std::optional<SuccessRate> success;        // for metrics that are shares of right examples
  std::vector<SentenceTest> sentence_tests;  // of BLEU and chrF, if run folders have outputs
};

/// A key that an arm gives another value than the baseline.
struct ChangedKey {
  std::string path, baseline, value;
};

struct ArmEvidence {
  std::string name;
  bool baseline = false;  // other arms are compared with it; tuned arms with a tuned one
  bool tuned = false;     // has the best value of the key that the study tunes
  std::vector<ChangedKey> changes;
  int64_t parameters = 0, active_parameters = 0;
  double flops_per_token = 0;
  Sample tokens_per_second, training_seconds, memory_bytes;
  std::vector<Cell> cells;  // every metric of every test set, the same ones in every arm of a task
};

/// Null if the arm has no such cell.
inline const Cell* find_cell(const ArmEvidence& arm, const std::string& test_set,
                             const std::string& metric) {
  for (const auto& cell : arm.cells)
    if (cell.test_set == test_set && cell.metric == metric) return &cell;
  return nullptr;
}

/// A metric as a power of the number of parameters, over the arms of a task.
struct SizeFit {
  std::string test_set, metric;
  statistics::PowerLaw law;  // of the arms' means
  Sample exponents;          // of each seed
};

struct TaskEvidence {
  std::string name;
  std::string metric;             // the primary one of this task; empty without a comparison
  std::optional<double> margin;   // smallest difference that matters; absent: not declared
  std::vector<ArmEvidence> arms;  // in the study's order
  bool same_tokens = true;        // all arms cut the targets into the same tokens
  int64_t comparisons = 0;        // primary ones of the file, for Holm's correction
  std::string family;             // the same in words; empty without comparisons
  std::vector<SizeFit> fits;      // if the study asks for them
};

/// The baseline of `arm`; null if it is a baseline itself or the study has no baseline.
inline const ArmEvidence* baseline_of(const TaskEvidence& task, const ArmEvidence& arm) {
  if (arm.baseline) return nullptr;
  for (const auto& other : task.arms)
    if (other.baseline && other.tuned == arm.tuned) return &other;
  return nullptr;
}

/// An arm's primary metric over all tasks, within the trained length (Agarwal et al. 2021).
struct Aggregate {
  std::string arm;
  double interquartile_mean = 0;
  statistics::Interval interval;      // stratified bootstrap, 95 %
  std::optional<double> improvement;  // mean over tasks of the probability of improvement
};

/// The score of an arm with a value of the tuned key.
struct TriedValue {
  std::string task, arm, value;
  double score = kUntested;  // the mean over the tuning seeds; NaN: a run diverged
  bool chosen = false;
};

/// The choice of tuned values.
struct TuningEvidence {
  std::string key;
  std::string metric;  // of the validation set
  std::vector<int64_t> seeds;
  std::vector<TriedValue> tried;
};

struct Expectation {
  std::string text;
  bool holds = false;
  std::string numbers;  // both sides, as they were compared
};

/// All results of a study's runs. Every report prints from this value.
struct Evidence {
  std::string study, question;
  std::string answer;  // a few sentences, from the verdicts
  std::optional<std::string> baseline;
  std::string metric;  // primary; empty without a comparison
  std::vector<int64_t> seeds;
  std::vector<TaskEvidence> tasks;
  std::vector<Aggregate> aggregates;     // if there are two tasks or more
  std::optional<TuningEvidence> tuning;  // of a study that tunes a key
  std::vector<Expectation> expectations;
  std::vector<records::MissingRun> missing;
  std::vector<std::string> notes;  // limits of the evidence, and the scorers' signatures
};

}  // namespace ablate::analysis
