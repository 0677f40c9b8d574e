#pragma once

#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

struct Configuration;
struct Study;

/// What a study file calls its tasks, and the arms that it can compare.
struct StudyNames {
  std::vector<std::string> tasks;
  std::vector<ComparedArm> arms;

  std::vector<std::string> names_of_arms() const;
  /// The arm of that name; one that does not exist has the name itself.
  ComparedArm arm(const std::string& name) const;
};

/// The comparison that the study declares; reports names and metrics that do not exist.
Comparison check_comparison(const CompareOptions& options, const StudyNames& names,
                            const Trail& trail, ProblemList& problems);

/// What the arms of a task are tested on.
struct TaskData {
  const std::string& task;
  const data::DataOptions& data;
};

/// Reports a metric that is not measured in the task that is compared by it, and primary test sets
/// that it does not have.
void check_tests(const CompareOptions& options, const TaskData& tested, const Trail& trail,
                 ProblemList& problems);

/// One arm's configuration in one task, and where its values were given.
struct ArmConfiguration {
  std::string arm;
  const Experiment* experiment;
  const Trail* trail;
  const Configuration* trained;  // whose training its weights have been through: trained_by()
};

/// Reports where arms of one task were trained for other numbers of steps or on other data than the
/// baseline, which `comparison` does not allow. An arm that is only evaluated has been through the
/// training of the arm that it starts from.
void check_even(const std::vector<ArmConfiguration>& arms, const Comparison& comparison,
                ProblemList& problems);

/// Reports metrics and test sets that the study compares arms by or expects something of and that
/// no run of it can have; `mark` is where it says what it expects.
void check_measured(const Study& study, const Mark& mark, ProblemList& problems);

/// Where a study says what is compared.
struct ClaimMarks {
  Mark compare, expect, tune;
};

/// Reports arms that the study compares by a figure per token although their tokenizers differ, and
/// tokenizers that it would choose by such a figure.
void check_tokens(const Study& study, const ClaimMarks& marks, ProblemList& problems);

}  // namespace ablate::config
