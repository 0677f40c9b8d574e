#pragma once

#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/tree.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/setting.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

struct Configuration;
struct Study;

/// The comparison that the study declares; reports unknown names and metrics.
Comparison check_comparison(const CompareOptions& options, const StudyNames& names,
                            const Tree& tree, ProblemList& problems);

/// The data of a task, shared by its arms.
struct TaskData {
  const std::string& task;  // as declared
  const data::DataOptions& data;
};

/// Reports a metric of comparison that is not measured in the task, and primary test sets that the
/// task does not have.
void check_tests(const CompareOptions& options, const TaskData& tested, const Tree& tree,
                 ProblemList& problems);

/// One arm's configuration in one task, and the places of its values.
struct ArmConfiguration {
  std::string arm;
  const Experiment* experiment;
  const Tree* tree;
  const Configuration* trained;  // whose training made its weights: trained_by()
};

/// Reports arms of a task that train for other numbers of steps or on other data than the baseline,
/// unless `comparison` allows it. An arm that is only evaluated counts as trained like the arm that
/// it starts from.
void check_even(const std::vector<ArmConfiguration>& arms, const Comparison& comparison,
                ProblemList& problems);

/// Reports metrics and test sets in the study's expectations that its runs do not have; `mark` is
/// the place of the expectations.
void check_measured(const Study& study, const Mark& mark, ProblemList& problems);

/// The places of a study's claims.
struct ClaimMarks {
  Mark compare, cost_to, expect;
};

/// Reports arms with different tokenizers that the study compares by a metric per token or by the
/// cost to reach one.
void check_tokens(const Study& study, const ClaimMarks& marks, ProblemList& problems);

}  // namespace ablate::config
