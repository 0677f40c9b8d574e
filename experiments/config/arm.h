#pragma once

#include <string>
#include <vector>

#include "experiments/config/problem_list.h"
#include "experiments/config/value.h"

namespace ablate::config {

/// A named set of changes to the base: a task or an arm. Later layers win.
struct Variation {
  std::string name;
  Mark mark;
  std::vector<Value> layers;
};

/// The entries of `section` (tasks or arms), with dotted keys nested. `what` names one of them in
/// messages.
std::vector<Variation> variations(const Value& section, const std::string& what,
                                  ProblemList& problems);

/// Every arm once for each combination of the grid's values, the first key varying slowest. Without
/// arms the combinations are the arms.
std::vector<Variation> multiplied(const std::vector<Variation>& arms, const Value& grid,
                                  ProblemList& problems);

/// What the name of a study, task or arm must be, as a regular expression: it names a folder.
inline constexpr const char* kNamePattern = "^(?![.]{1,2}$)[A-Za-z0-9._=-]{1,100}$";

/// Reports a name that does not match kNamePattern.
void check_name(const std::string& name, const std::string& what, const Mark& mark,
                ProblemList& problems);

}  // namespace ablate::config
