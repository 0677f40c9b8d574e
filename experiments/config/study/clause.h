#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "experiments/config/study/setting.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// One side of an expectation: `factor` times an arm's score, or `factor` alone.
struct Term {
  double factor = 1;
  std::optional<std::string> arm;  // absent: the side is a number
  std::string metric;
  std::string test_set;  // empty: the mean of compare.over, or else the first test set
};

enum class Relation { less, at_most, greater, at_least, within };
/// The longer signs first, for each begins with a shorter one.
constexpr auto names(Relation) {
  return std::to_array<std::pair<Relation, std::string_view>>({{Relation::at_most, "<="},
                                                               {Relation::at_least, ">="},
                                                               {Relation::less, "<"},
                                                               {Relation::greater, ">"},
                                                               {Relation::within, "within"}});
}

/// A claim that a study's results are checked against, in means over the seeds:
///   [TASK:] SIDE < SIDE        also <=, >, >=
///   [TASK:] SIDE within NUMBER of SIDE
/// A SIDE is [NUMBER *] ARM.METRIC or [NUMBER *] ARM.METRIC[TEST SET] or NUMBER. TASK is
/// the name of a setting, and may be left out if the study has only one.
struct Clause {
  std::string text;
  std::string task;  // the setting's name
  Term left, right;
  Relation relation = Relation::less;
  double tolerance = 0;  // of within
};

/// Reads one item of `expect`; reports syntax errors and unknown names.
Clause read_clause(const Value& item, const StudyNames& names, ProblemList& problems);

}  // namespace ablate::config
