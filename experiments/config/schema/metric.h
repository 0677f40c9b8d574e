#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/data_options.h"

namespace ablate::config {

/// Which values of a metric are better.
enum class Direction { higher, lower, neither };

constexpr auto names(Direction) {
  return std::to_array<std::pair<Direction, std::string_view>>({{Direction::higher, "higher"},
                                                                {Direction::lower, "lower"},
                                                                {Direction::neither, "neither"}});
}

/// A figure of runs, as everything that checks, reads, compares, prints and draws it knows it. A
/// new one of test sets is a row in metric.cpp, a field of TestScores, and its computation in
/// run/evaluate.cpp.
struct Metric {
  std::string name;
  std::string label;    // as it is read: "exact match"
  std::string meaning;  // for the documentation
  Direction direction = Direction::higher;
  double low = 0, high = 0;  // no value lies outside; an infinite end: no bound
  int digits = 3;            // after the point
  /// The test sets that it is measured on; empty: of the whole run, in training or validation.
  std::vector<data::Compared> on;
  std::string field = name;               // of records::TestScores or RunResult; empty: of neither
  double (*converted)(double) = nullptr;  // what it is of the field's value; null: that value
  bool counts_right = false;              // the share of examples or tokens that are right
  bool per_token = false;  // alike only between runs that cut the targets into the same tokens
  bool in_tables = field == name;     // whether or not a study asks for it
  std::string heading = label;        // of a narrow column
  bool observed = false;              // of a run only if training.observe.quantities names it
  bool in_tables_above_zero = false;  // in tables if any run of a task is above 0
};

/// All of them, in the order of tables.
const std::vector<Metric>& metrics();

/// Null where no metric has this name.
const Metric* find_metric(std::string_view name);

/// Those of a test set whose outputs are compared so.
std::vector<Metric> metrics_on(data::Compared compared);

/// Those of the whole run that its result holds.
std::vector<Metric> run_metrics();

/// The names of all of them.
const std::vector<std::string>& names_of_metrics();

/// The names of those that arms can be compared by.
const std::vector<std::string>& names_of_comparable_metrics();

/// A value with so many digits after the point, or, where these would be more than anybody reads,
/// as "1.234e+12"; "-" of NaN.
std::string number_text(double value, int digits);

/// Whether a mean is greater than another one. Two that differ by less than a billionth of the
/// larger are equal, since rounding alone may tell them apart; whatever compares means asks this.
bool is_above(double mean, double other);

/// A value that a metric of the validation set has to reach.
struct Target {
  std::string metric;
  double value = 0;
};

/// Whether `metric` counts by tokens of which a set has more or fewer under another tokenizer.
/// Classes are no such tokens.
bool is_per_token(std::string_view metric, data::Compared compared);

/// The metric that says after how many steps `metric` reaches its target.
std::string steps_to(const std::string& metric);

}  // namespace ablate::config
