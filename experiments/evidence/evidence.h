#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/statistics/interval.h"

namespace ablate::experiments {

enum class Direction { higher, lower };  // which values of a metric are better

/// One figure of one arm on one test set, a value for each seed, in the order of `Evidence::seeds`.
struct Sample {
  std::vector<double> values;                    // NaN: that run has not finished
  int64_t count = 0;                             // finished runs
  double mean = 0, deviation = 0;                // of the finished runs; NaN below one and two
  std::optional<statistics::Interval> interval;  // 95 % t-interval of the mean, from two runs on
};

/// What the differences from the baseline support.
enum class Verdict {
  better,
  worse,
  indistinguishable,
  too_few_seeds,  // no difference of this many seeds could be significant
  not_learned,    // beyond the trained length, where the task is not learned within it
  uneven,         // the arm and the baseline have not finished the same seeds
  not_tested,     // a value is not finite
  secondary,      // only the metric that the study declares carries claims
};

/// An arm less the baseline, seed by seed.
struct Contrast {
  std::vector<double> differences;  // of the seeds that both arms have
  double mean = 0;
  std::optional<statistics::Interval> interval;  // 95 % t-interval of the mean
  double p = 1;                                  // exact sign-flip test, two-sided
  double holm_p = 1;                             // the same, over the task's arms on this test set
  double improvement = 0.5;                      // probability that the arm is the better one
  Verdict verdict = Verdict::indistinguishable;
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
  std::string test_set;  // empty: of training or validation
  bool beyond = false;   // the test set is longer than anything in training
  std::string metric;
  Direction direction = Direction::higher;
  bool primary = false;  // the metric that the study declares
  Sample sample;
  std::optional<Contrast> contrast;          // absent: this is the baseline, or there is none
  std::optional<SuccessRate> success;        // of metrics that are shares of right examples
  std::vector<SentenceTest> sentence_tests;  // of BLEU and chrF, where run folders hold sentences
};

/// A key that an arm gives another value than the baseline.
struct ChangedKey {
  std::string path, baseline, value;
};

struct ArmEvidence {
  std::string name;
  bool baseline = false;
  std::vector<ChangedKey> changes;
  int64_t parameters = 0, active_parameters = 0;
  double flops_per_token = 0;
  Sample tokens_per_second, training_seconds, memory_bytes;
  std::vector<Cell> cells;  // every metric of every test set, the same ones in every arm of a task
};

struct TaskEvidence {
  std::string name;
  std::string metric;             // the primary one of this task; empty where there is none
  std::vector<ArmEvidence> arms;  // in the study's order
};

/// An arm over all tasks (Agarwal et al. 2021), of the primary metric within the trained length.
struct Aggregate {
  std::string arm;
  double interquartile_mean = 0;
  statistics::Interval interval;      // stratified bootstrap, 95 %
  std::optional<double> improvement;  // mean over tasks of the probability of improvement
};

struct Expectation {
  std::string text;
  bool holds = false;
  std::string numbers;  // both sides, as they were compared
};

/// A run that is no evidence, and why.
struct MissingRun {
  std::string task, arm;
  int64_t seed = 0;
  std::string reason;  // "failed with exit code 5: ...", "interrupted", "not started"
};

/// All that a study's runs say about its question. A value: every report prints this one.
struct Evidence {
  std::string study, question;
  std::string answer;  // one or a few sentences, no claim that the runs do not support
  std::optional<std::string> baseline;
  std::string metric;  // primary; empty where the study declares none
  std::vector<int64_t> seeds;
  std::vector<TaskEvidence> tasks;
  std::vector<Aggregate> aggregates;  // with two tasks or more
  std::vector<Expectation> expectations;
  std::vector<MissingRun> missing;
  std::vector<std::string> notes;  // what limits the evidence, and the scorers' signatures
};

}  // namespace ablate::experiments
