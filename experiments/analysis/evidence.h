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

/// One figure of one arm on one test set, a value for each seed, in the order of `Evidence::seeds`.
struct Sample {
  std::vector<double> values;      // NaN: that run has not finished, or its value is undefined
  int64_t count = 0;               // values that are there
  double mean = 0, deviation = 0;  // of them; NaN below one and two
  /// 95 % t-interval of the mean, from two values on, clipped to what the metric can be.
  std::optional<statistics::Interval> interval;
  /// Whose values are how far the run had got when it ended; empty: none. Then the mean is a lower
  /// bound, and there is neither deviation nor interval.
  std::vector<bool> censored;
};

inline bool is_censored(const Sample& sample) { return !sample.censored.empty(); }

/// What the differences from the baseline support.
enum class Verdict {
  better,
  worse,
  equivalent,         // the difference is shown to be smaller than the study's margin
  indistinguishable,  // no difference is shown, and the study declares no margin
  undecided,          // neither a difference nor, by the study's margin, equivalence is shown
  too_few_seeds,      // this many seeds could show neither
  not_learned,        // beyond the trained length, where the task is not learned within it
  uneven,             // the arm and the baseline have not finished the same seeds
  censored,           // a run has not reached the value that its steps are counted to
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

/// The p of a test, by itself and corrected over the task's family of comparisons.
struct Test {
  double p = kUntested;
  double holm_p = kUntested;
};

/// An arm less the baseline, seed by seed.
struct Contrast {
  std::vector<double> differences;  // of the seeds that both arms have
  double mean = 0;
  std::optional<statistics::Interval> interval;  // 95 % t-interval of the mean, clipped
  Test difference;                               // exact sign-flip test, two-sided
  Test equivalence;                              // two one-sided ones of the task's margin
  double improvement = 0.5;  // probability that the arm is the better one; NaN: neither can be
  Verdict verdict = Verdict::exploratory;
  std::string sentence;  // the verdict in words, with its figures
};

/// How often a task was solved: seeds with at least 95 % of its examples right.
struct SuccessRate {
  int64_t solved = 0, runs = 0;
  statistics::Interval interval;  // Wilson, 95 %
};

/// Whether two systems' outputs differ on this very test set, whatever other seeds would give.
struct SentenceTest {
  int64_t seed = 0;
  double difference = 0;
  double bootstrap_p = 1;      // paired bootstrap (Koehn 2004), as sacreBLEU
  double randomisation_p = 1;  // approximate randomisation (Riezler and Maxwell 2005), as sacreBLEU
};

/// One metric of one arm on one test set.
struct Cell {
  std::string test_set;       // empty: of training or validation
  int64_t length = 0;         // of the test set's sources, in `unit`; 0: they have no one length
  std::string unit;           // "symbols" or "digits"; empty without a length
  bool extrapolates = false;  // the test set is longer than anything in training
  std::string metric;
  Direction direction = Direction::higher;
  bool primary = false;    // metric and test set are those that the study makes claims of
  bool in_tables = false;  // tables always have the metric, or the study compares by it or expects
                           // something of it
  bool best = false;       // no arm's mean is better, as it is printed, and some arm's is worse
  statistics::Interval range = statistics::kUnbounded;  // what values of the metric can be
  Sample sample;
  std::optional<Contrast> contrast;          // absent: nothing to compare, or with nothing
  std::optional<SuccessRate> success;        // of metrics that are shares of right examples
  std::vector<SentenceTest> sentence_tests;  // of BLEU and chrF, where run folders hold sentences
};

/// A key that an arm gives another value than the baseline.
struct ChangedKey {
  std::string path, baseline, value;
};

struct ArmEvidence {
  std::string name;
  bool baseline = false;  // what the others are compared with; of tuned arms it is a tuned one
  bool tuned = false;     // has the best value of the key that the study tunes
  std::vector<ChangedKey> changes;
  int64_t parameters = 0, active_parameters = 0;
  double flops_per_token = 0;
  Sample tokens_per_second, training_seconds, memory_bytes;
  std::vector<Cell> cells;  // every metric of every test set, the same ones in every arm of a task
};

/// Null where the arm has none.
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
  std::string metric;             // the primary one of this task; empty where there is none
  std::optional<double> margin;   // differences below it do not matter; none: not declared
  std::vector<ArmEvidence> arms;  // in the study's order
  bool same_tokens = true;        // all arms cut the targets into the same tokens
  int64_t comparisons = 0;        // over which Holm corrects: all primary ones of the file
  std::string family;             // the same in words; empty where nothing is compared
  std::vector<SizeFit> fits;      // where the study asks for them
};

/// What `arm` is compared with; null where it is a baseline itself or there is none.
inline const ArmEvidence* baseline_of(const TaskEvidence& task, const ArmEvidence& arm) {
  if (arm.baseline) return nullptr;
  for (const auto& other : task.arms)
    if (other.baseline && other.tuned == arm.tuned) return &other;
  return nullptr;
}

/// An arm over all tasks (Agarwal et al. 2021), of the primary metric within the trained length.
struct Aggregate {
  std::string arm;
  double interquartile_mean = 0;
  statistics::Interval interval;      // stratified bootstrap, 95 %
  std::optional<double> improvement;  // mean over tasks of the probability of improvement
};

/// How an arm did with a value of the key that the study tunes.
struct TriedValue {
  std::string task, arm, value;
  double score = kUntested;  // the mean over the tuning seeds; NaN: a run diverged
  bool chosen = false;
};

/// How `tune` chose.
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

/// All that a study's runs say about its question. A value: every report prints this one.
struct Evidence {
  std::string study, question;
  std::string answer;  // one or a few sentences, no claim that the runs do not support
  std::optional<std::string> baseline;
  std::string metric;  // primary; empty where the study declares none
  std::vector<int64_t> seeds;
  std::vector<TaskEvidence> tasks;
  std::vector<Aggregate> aggregates;     // with two tasks or more
  std::optional<TuningEvidence> tuning;  // of a study that tunes a key
  std::vector<Expectation> expectations;
  std::vector<records::MissingRun> missing;
  std::vector<std::string> notes;  // what limits the evidence, and the scorers' signatures
};

}  // namespace ablate::analysis
