#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "data/data_options.h"
#include "options/enumeration.h"

namespace ablate::config {

/// Which values of a metric are better.
ABLATE_ENUM(Direction, higher, lower, neither);

/// A metric of runs: the only description for all code that checks, reads, compares and prints it.
/// A new metric of test sets needs a row in metric.cpp, a field of TestScores, and its computation
/// in run/evaluate.cpp.
struct Metric {
  std::string name;
  std::string label;    // for tables: "exact match"
  std::string meaning;  // for the documentation
  Direction direction = Direction::higher;
  /// Possible values, ends included; infinite: no bound.
  double low = 0, high = std::numeric_limits<double>::infinity();
  int digits = 3;  // after the point
  /// The kinds of test sets that it is measured on; empty: measured on the whole run.
  std::vector<data::Compared> on;
  std::string field = name;               // in records::TestScores or RunResult; empty: in neither
  double (*converted)(double) = nullptr;  // from the field's value; null: the same value
  bool counts_right = false;              // the share of examples or tokens that are right
  bool per_token = false;               // comparable only between runs with the same target tokens
  bool in_tables = field == name;       // even if no study asks for it
  std::string heading = label;          // for a narrow column
  bool observed = false;                // measured only if training.observe.quantities names it
  bool of_mixtures = false;             // measured only of mixtures of experts
  bool of_known_probabilities = false;  // measured only if data::knows_probabilities
  bool in_tables_above_zero = false;    // in tables if a run of the task is above 0
};

/// All metrics, in the order of tables.
const std::vector<Metric>& metrics();

/// Null if no metric has this name.
const Metric* find_metric(std::string_view name);

/// The metrics of a test set whose outputs are scored this way.
std::vector<Metric> metrics_on(data::Compared compared);

/// The metrics of the whole run that its result holds.
std::vector<Metric> run_metrics();

/// The names of all metrics.
const std::vector<std::string>& names_of_metrics();

/// The names of the metrics that arms can be compared by.
const std::vector<std::string>& names_of_comparable_metrics();

/// A value with this many digits after the point; "1.234e+12" if it is 1e9 or more, and "-" if it
/// is NaN.
std::string number_text(double value, int digits);

/// Whether a mean is greater than another, used by every comparison of means. Means that differ by
/// less than a billionth of the larger are equal: the difference may be rounding.
bool is_above(double mean, double other);

/// What training spends: updates, target tokens, floating-point operations, time.
ABLATE_ENUM(Resource, steps, tokens, flops, seconds);

inline constexpr std::array kResources{Resource::steps, Resource::tokens, Resource::flops,
                                       Resource::seconds};

/// "FLOPs": in headings.
std::string label_of(Resource resource);

/// Whether `metric` is measured per token and so depends on the tokenizer. Label targets do not
/// depend on it.
bool is_per_token(std::string_view metric, data::Compared compared);

/// The metric for what training spends until it reaches the target of `compare.cost_to`.
std::string to_target(Resource resource);

}  // namespace ablate::config
