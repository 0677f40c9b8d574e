#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/study.h"

namespace ablate::config {

/// Values of a key with which an arm has a curve.
inline constexpr size_t kFewestPoints = 3;

/// Reports what a study with `tune.by: curve` cannot have. REQUIRES: keys to tune.
void check_curve(const Tuning& tuning, const StudyFile& keys, const Tree& tree,
                 ProblemList& problems);

/// Reports an arm that starts from another one, which has as many runs as its curve has points.
void check_on_curve(const ExpandedArm& arm, ProblemList& problems);

/// "peak=0.004": RunSpecification::point.
std::string point_of(const TunedKey& key, const Value& value);

/// The runs of the arm: every value that its configuration allows, on every seed of the study.
std::vector<RunSpecification> runs_on_curve(const Study& study, const UntunedArm& arm);

}  // namespace ablate::config
