#pragma once

#include "experiments/config/yaml/value.h"

namespace ablate::config {

struct Study;

/// Reports compare.over, whose place is `mark`, where the study cannot have its one number: without
/// two test sets with a length in every task, or two tasks with one metric, of test sets.
void check_over(const Study& study, const Mark& mark, ProblemList& problems);

}  // namespace ablate::config
