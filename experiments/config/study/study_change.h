#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// What a study file says beside its runs, such as question, comparison and expectations: its text
/// by dotted path.
std::map<std::string, std::string> claims_of(const Value& document);

/// How `now` differs from what the study `then` was, a line each: values of its runs, what it asks,
/// claims and compares, and tasks, arms and seeds that are gone. Those that are new are no change.
std::vector<std::string> changes(const Study& then, const Study& now);

/// How one list of key.path=value differs from another.
std::vector<std::string> changed_sets(const std::vector<std::string>& then,
                                      const std::vector<std::string>& now);

}  // namespace ablate::config
