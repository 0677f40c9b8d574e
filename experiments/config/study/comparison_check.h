#pragma once

#include "experiments/config/schema/tree.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/setting.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

struct ExpandedTask;
struct ParsedStudy;
struct Study;

/// The comparison that the study declares; reports unknown names and metrics.
Comparison check_comparison(const CompareOptions& options, const StudyNames& names,
                            const Tree& tree, ProblemList& problems);

/// Reports a metric of comparison that is not measured in the task, and primary test sets that the
/// task does not have. REQUIRES: the task is selected.
void check_tests(const ParsedStudy& parsed, const ExpandedTask& task, ProblemList& problems);

/// Reports arms of a task that train for other numbers of steps or on other data than the baseline,
/// unless the comparison allows it. An arm that is only evaluated counts as trained like the arm
/// that it starts from. REQUIRES: the study compares, and has the task's configurations.
void check_even(const ExpandedTask& task, const Study& study, ProblemList& problems);

/// Reports metrics and test sets in the study's expectations that its runs do not have; `mark` is
/// the place of the expectations.
void check_measured(const Study& study, const Mark& mark, ProblemList& problems);

/// Reports compare.over, at `mark`, if the study cannot have its one number: it needs two test sets
/// with a length in every task, or two tasks with one metric of test sets.
void check_over(const Study& study, const Mark& mark, ProblemList& problems);

/// Reports arms with different tokenizers that the study compares by a metric per token or by the
/// cost to reach one. `tree` holds the values of the study file.
void check_tokens(const Study& study, const Tree& tree, ProblemList& problems);

}  // namespace ablate::config
