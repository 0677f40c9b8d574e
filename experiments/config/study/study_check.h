#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/tree.h"
#include "experiments/config/study/file_check.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/selection.h"
#include "experiments/config/study/study.h"
#include "experiments/config/study/study_notes.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Checks the rules in every run and reports each broken rule once.
class RunCheck {
 public:
  /// Returns whether the run breaks no rule.
  bool add(const StudyNotes::Place& run, const Experiment& experiment, const Tree& tree);

  /// Names the first task and arm that break a rule, and how many more do, unless all runs break
  /// it.
  void report(ProblemList& problems) const;

 private:
  struct Breach {
    Mark mark;
    StudyNotes::Place first;
    size_t runs = 0;
  };
  using Key = std::tuple<std::string, int, int, std::string>;  // source, line, column, message

  std::map<Key, Breach> breaches_;
  size_t runs_ = 0;
};

/// Checks the experiments of a study, task by task.
class StudyCheck {
 public:
  /// `study` is made from `parsed`. All three must outlive the check.
  StudyCheck(const ParsedStudy& parsed, const Selection& selection, const Study& study);

  /// To be called after the configurations of the task were added to the study.
  void add(const ExpandedTask& task, ProblemList& problems);

  /// Reports problems that show only in all tasks together.
  void finish(ProblemList& problems) const;

  /// Possible mistakes that are no errors.
  std::vector<std::string> notes() const { return notes_.sentences(); }

 private:
  void check_arm(const ExpandedTask& task, const ExpandedArm& arm, ProblemList& problems);
  void check_tuning(const ExpandedTask& task, ProblemList& problems);
  void check_start(const ExpandedTask& task, const ExpandedArm& arm, ProblemList& problems) const;
  void check_source(const ExpandedTask& task, const ExpandedArm& arm, ProblemList& problems) const;
  void check_comparison(const ExpandedTask& task, ProblemList& problems) const;
  void check_size(const ExpandedTask& task, ProblemList& problems);

  const ParsedStudy& parsed_;
  const Selection& selection_;
  const Study& study_;
  RunCheck rules_;
  FileCheck files_;
  StudyNotes notes_;
  std::map<std::string, std::string> sizes_;  // an arm's experiment in a task -> its size
};

}  // namespace ablate::config
