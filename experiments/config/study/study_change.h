#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// The keys of a study file that do not define runs, such as question, comparison and expectations:
/// text by dotted path.
std::map<std::string, std::string> claims_of(const Value& document);

/// The differences of `now` from `then`, a line each: values of runs, question, comparison and
/// claims, and removed tasks, arms and seeds. Added tasks, arms and seeds are no difference.
std::vector<std::string> changes(const Study& then, const Study& now);

/// The differences between two lists of key.path=value, a line each.
std::vector<std::string> changed_sets(const std::vector<std::string>& then,
                                      const std::vector<std::string>& now);

}  // namespace ablate::config
