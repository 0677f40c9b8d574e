#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/metric.h"
#include "experiments/config/study/regime.h"
#include "experiments/config/yaml/value.h"
#include "options/enumeration.h"

namespace ablate::config {

/// A value of a key of the grid.
struct GridPoint {
  std::string key;    // dotted path
  std::string value;  // as in names: "0.004"
  bool operator==(const GridPoint&) const = default;
};

/// A named set of changes to the base: a task, a size or an arm. Later layers override earlier
/// ones.
struct Variation {
  std::string name;
  Mark mark;
  std::vector<Value> layers;
  std::vector<GridPoint> grid;  // the values of the grid that the last layer holds
};

std::vector<std::string> names_of(const std::vector<Variation>& variations);

/// The entries of `section` (tasks, sizes or arms), with dotted keys nested. `what` is "task",
/// "size" or "arm", for messages.
std::vector<Variation> variations(const Value& section, const std::string& what,
                                  ProblemList& problems);

/// One value of each of several keys, and the values of each.
using Combination = std::vector<Value>;
using Axes = std::vector<std::vector<Value>>;

/// Every combination of the values; the first key varies slowest.
std::vector<Combination> combinations(const Axes& axes);

/// The part of a name for a value: "0.001", "learned_90".
std::string name_of(const Value& value);

/// The shortest end of the path, from a dot on, that no other key has.
std::string short_name(const std::string& path, const std::vector<Entry>& keys);

/// Every combination of the grid's values; the first key varies slowest. Names hold "peak=0.004":
/// the last part of each key, with as many parts before it as tell it from the grid's other keys.
/// Empty if a problem is reported.
std::vector<Variation> points_of(const Value& grid, ProblemList& problems);

/// The regular expression of a name of a study, task or arm, which is also the name of a folder.
inline constexpr const char* kNamePattern = "^(?![.]{1,2}$)[A-Za-z0-9._=-]{1,100}$";

/// Reports a name that does not match kNamePattern.
void check_name(const std::string& name, const std::string& what, const Mark& mark,
                ProblemList& problems);

/// Ways in which compared arms may differ beside the keys that the study changes.
ABLATE_ENUM(Uneven, seeds, steps, data, hardware);

/// The curve that is fitted to the arms' values over their numbers of parameters.
ABLATE_ENUM(Fit, none, power);

/// What a study claims of an arm, beside the baseline.
ABLATE_ENUM(ClaimKind, superior, inferior, noninferior, equal);

/// Whether the claim cannot be tested without a margin.
constexpr bool needs_margin(ClaimKind kind) {
  return kind == ClaimKind::noninferior || kind == ClaimKind::equal;
}

/// The 10 %, 50 % and 90 % quantiles of a difference, ascending.
using Forecast = std::array<double, 3>;

constexpr bool ascends(const Forecast& x) {  // and is finite
  return x[0] <= x[1] && x[1] <= x[2] && x[2] - x[0] < std::numeric_limits<double>::infinity();
}

/// The claim of one arm.
struct ArmClaim {
  std::optional<ClaimKind> kind;
  std::optional<double> margin;
  std::optional<Forecast> forecast = {};
  std::optional<double> published = {};
  RegimeOptions regime = {};
  std::string says = {};    // empty: not given
  std::string source = {};  // empty: not given

  static void fields(auto& o, auto&& visit) {
    visit("claim", o.kind,
          "what the study claims of the arm beside the baseline: superior, inferior, noninferior "
          "(no worse by the margin or more) or equal (the difference is smaller than the margin); "
          "absent: only whether there is a difference is asked");
    visit("says", o.says, "the published statement that the claim is about, in a sentence");
    visit("source", o.source,
          "who published the statement, and where: Shazeer 2020 (arXiv 2002.05202, Table 1)");
    visit("margin", o.margin,
          "the smallest difference of `metric` that matters, such as 0.01; an arm that is shown to "
          "differ by less is equivalent; absent: no test of equivalence");
    visit("forecast", o.forecast,
          "what is expected of the arm's difference from the baseline: its 10 %, 50 % and 90 % "
          "quantiles, such as [-0.05, -0.02, 0.01], which the report scores");
    visit("published", o.published,
          "the source's difference, arm minus baseline, in `metric` and on the study's scale, such "
          "as -0.04; if no difference is shown and the interval leaves it out, the study shows no "
          "effect of that size here");
    visit("regime", o.regime,
          "the range for which the source speaks; a study that misses it by more than a factor of "
          "4 decides nothing about the source");
  }
  static void rules(const ArmClaim& o, auto&& require) {
    const bool directed = o.kind && !needs_margin(*o.kind);
    require(!o.margin || *o.margin > 0, "margin", "must be positive");
    require(!o.forecast || ascends(*o.forecast), "forecast", "must be three ascending quantiles");
    require(!o.published || directed, "published",
            "is of a claim that an arm is superior or inferior; give it that claim, or leave it "
            "out");
    require(!o.published || !directed || *o.published != 0, "published",
            "must be a number other than 0");
  }
};

/// The test of paired differences.
ABLATE_ENUM(PairedTest, sign_flip, t, e_value);

/// The measure by which arms are compared if their signs flip together (Westfall and Young 1993).
ABLATE_ENUM(JointCorrection,
            max_t,   // |sum| / sqrt(sum of squares)
            min_p);  // the p of each arm by itself

/// What one number for each seed is compared of, where several test sets or tasks have one each.
ABLATE_ENUM(Over, none,
            lengths,      // the mean over test sets of different lengths
            log_lengths,  // the area over the logarithm of the length, divided by its range
            tasks);       // the mean over the tasks

constexpr bool is_over_lengths(Over over) {
  return over == Over::lengths || over == Over::log_lengths;
}

/// What a run has to reach on the validation set.
struct Target {
  std::string metric;           // of the run's validations
  std::optional<double> value;  // absent: the baseline's at its last validation, seed by seed
};

/// Every other arm is compared with `baseline`.
struct Comparison {
  std::string baseline;
  std::string metric;
  std::map<std::string, std::string> metrics;                 // of tasks with a different metric
  std::map<std::string, std::vector<std::string>> test_sets;  // primary ones, by task
  Over over = Over::none;
  ArmClaim claim;                        // of all arms that have none of their own
  std::map<std::string, ArmClaim> arms;  // claims of single arms
  PairedTest test = PairedTest::sign_flip;
  JointCorrection correction = JointCorrection::max_t;  // of sign flips
  std::optional<Target> cost_to;
  std::vector<Uneven> allow;
  Fit fit = Fit::none;
  bool control = false;
};

/// The arm of compare.control: the baseline with other random numbers.
inline constexpr const char* kControl = "control";

inline bool is_control(const Comparison& comparison, const std::string& arm) {
  return comparison.control && arm == kControl;
}

/// The metric that the arms of `task` are compared by.
const std::string& metric_of(const Comparison& comparison, const std::string& task);

/// The numbers that arms are compared by in a setting: one if `comparison` has one for several, or
/// names no test sets for it.
int64_t count_primary_sets(const Comparison& comparison, const std::string& setting);

/// The claim of `arm` in `task`. A margin is of the study's metric, so in a task with another
/// metric there is neither a margin nor a claim that needs one.
ArmClaim claim_of(const Comparison& comparison, const std::string& task, const std::string& arm);

bool allows(const Comparison& comparison, Uneven uneven);

}  // namespace ablate::config
