#pragma once

#include <string>
#include <vector>

#include "experiments/config/comparison.h"
#include "experiments/config/experiment.h"
#include "experiments/config/problem_list.h"
#include "experiments/config/reader.h"
#include "experiments/config/study_file.h"

namespace ablate::config {

struct Configuration;
struct Study;

/// What a study file calls its tasks and arms.
struct StudyNames {
  std::vector<std::string> tasks, arms;
};

/// The comparison that the study declares; reports names and metrics that do not exist.
Comparison check_comparison(const CompareOptions& options, const StudyNames& names,
                            const Trail& trail, ProblemList& problems);

/// Reports primary test sets of `task` that it does not have; `data` is what its arms are tested
/// on.
void check_test_sets(const CompareOptions& options, const std::string& task,
                     const data::DataOptions& data, ProblemList& problems);

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

/// Reports what the study expects of a figure that an arm does not observe; `mark` is where it
/// says so.
void check_observed(const Study& study, const Mark& mark, ProblemList& problems);

/// Where a study says what is compared.
struct ClaimMarks {
  Mark compare, expect, tune;
};

/// Reports arms that the study compares by a figure per token although their tokenizers differ, and
/// tokenizers that it would choose by such a figure.
void check_tokens(const Study& study, const ClaimMarks& marks, ProblemList& problems);

}  // namespace ablate::config
