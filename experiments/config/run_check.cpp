#include "experiments/config/run_check.h"

#include <fmt/format.h>

#include "experiments/config/rules.h"

namespace ablate::config {

void RunCheck::add(const Place& run, const Experiment& experiment, const Trail& trail) {
  ++runs_;
  std::vector<BrokenRule> broken;
  collect_broken_rules(experiment, "", broken);
  for (const auto& [mark, message] : rule_problems(experiment.model, broken, trail)) {
    auto& breach = breaches_[{mark.source->name, mark.line, mark.column, message}];
    if (breach.runs++ == 0) {
      breach.mark = mark;
      breach.first = run;
    }
  }
}

void RunCheck::report(ProblemList& problems) const {
  for (const auto& [key, breach] : breaches_) {
    const auto& message = std::get<3>(key);
    const auto where = breach.runs == runs_ ? ""
                                            : fmt::format(" (task '{}', arm '{}')",
                                                          breach.first.task, breach.first.arm);
    problems.add(breach.mark, message + where);
  }
}

}  // namespace ablate::config
