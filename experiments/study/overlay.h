#pragma once

#include <string>
#include <vector>

#include "experiments/study/value.h"

namespace ablate::experiments {

/// `map` with every dotted key ("model.position.kind: learned") as nested maps; keys that name the
/// same path twice are a problem.
Value expand(const Value& map, Problems& problems);

/// `base` with everything that `over` says instead. Where `over` chooses another alternative of a
/// variant (its path is in experiment_variants()), the base's keys of the old one are left behind.
Value merge(const Value& base, const Value& over, const std::string& path = {});

/// A map that holds `value` at the dotted `path`, every key at `place`.
Value nested(const std::string& path, const Place& place, Value value);

}  // namespace ablate::experiments
