#pragma once

#include <string>

#include "experiments/config/problem_list.h"
#include "experiments/config/value.h"

namespace ablate::config {

/// What happens where two keys name the same path.
enum class Repeated { problem, last_wins };

/// `mapping` with dotted keys ("model.position.kind: learned") as nested mappings, at every level.
Value nested(const Value& mapping, ProblemList& problems);

/// Puts `value` at the dotted path that `key` spells out, starting in `mapping`.
void put(Value& mapping, const Entry& key, Repeated repeated, ProblemList& problems);

}  // namespace ablate::config
