#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/config/problem.h"
#include "experiments/config/value.h"

namespace ablate::config {

/// The problem `message` at `mark`, with the line it stands in.
Problem problem_at(const Mark& mark, std::string message);

/// Collects problems, so that all of them are reported at once.
class ProblemList {
 public:
  void add(const Mark& mark, std::string message);
  void add(Problem problem) { problems_.push_back(std::move(problem)); }
  bool empty() const { return problems_.empty(); }
  const std::vector<Problem>& all() const { return problems_; }
  /// Throws ConfigError where there is any problem.
  void raise() const;

 private:
  std::vector<Problem> problems_;
};

}  // namespace ablate::config
