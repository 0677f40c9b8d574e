#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/config/problem_list.h"
#include "experiments/config/reader.h"

namespace ablate::config {

/// Holds the rules against every run and reports each broken one once, however many runs break it.
class RunCheck {
 public:
  struct Place {
    std::string task, arm;
  };

  void add(const Place& run, const Experiment& experiment, const Trail& trail);

  /// A rule that holds in some runs is reported with the first task and arm that break it.
  void report(ProblemList& problems) const;

 private:
  struct Breach {
    Mark mark;
    Place first;
    size_t runs = 0;
  };
  using Key = std::tuple<std::string, int, int, std::string>;  // source, line, column, message

  std::map<Key, Breach> breaches_;
  size_t runs_ = 0;
};

}  // namespace ablate::config
