#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/selection.h"
#include "experiments/config/study/study.h"
#include "experiments/config/study/study_notes.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Reports the files and folders that configurations name and that are not there, each once.
class FileCheck {
 public:
  /// `folder` is where relative paths start.
  explicit FileCheck(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  void add(const Experiment& experiment, const Trail& trail, ProblemList& problems);

 private:
  std::filesystem::path folder_;
  std::set<std::pair<std::string, std::string>> reported_;  // key, file
};

/// What to write instead of a path that begins with ~, which only a shell replaces: "; write
/// /home/u/x, since ~ ..."; empty for any other path.
std::string without_tilde(const std::string& path);

/// Holds the rules against every run and reports each broken one once, however many runs break it.
class RunCheck {
 public:
  struct Place {
    std::string task, arm;
  };

  void add(const Place& run, const Experiment& experiment, const Trail& trail);

  /// A rule that holds in some runs is reported with the first task and arm that break it.
  void report(ProblemList& problems) const;

 private:
  struct Breach {
    Mark mark;
    Place first;
    size_t runs = 0;
  };
  using Key = std::tuple<std::string, int, int, std::string>;  // source, line, column, message

  std::map<Key, Breach> breaches_;
  size_t runs_ = 0;
};

/// Why a run cannot start from another one as it says.
struct StartProblem {
  std::string key;  // below training.init_from
  std::string why;
};

/// What keeps `own` from starting from a run of `source` as its training.init_from says: weights
/// that such a run does not keep, parts that its model does not have, or another number of layers
/// than it leaves.
std::vector<StartProblem> start_problems(const Experiment& own, const Experiment& source);

/// Reports everything that may be wrong with the experiments of a study, task by task.
class StudyCheck {
 public:
  /// `study` is what `parsed` makes; all three outlive the check.
  StudyCheck(const ParsedStudy& parsed, const Selection& selection, const Study& study);

  /// To be called once the study has the configurations of the task.
  void add(const ExpandedTask& task, ProblemList& problems);

  /// What shows only in all tasks together.
  void finish(ProblemList& problems) const;

  /// What is no error, and yet may not be meant.
  std::vector<std::string> notes() const { return notes_.sentences(); }

 private:
  void check_arm(const ExpandedTask& task, const ExpandedArm& arm, ProblemList& problems);
  void check_tuning(const ExpandedTask& task, ProblemList& problems) const;
  void check_start(const ExpandedTask& task, const ExpandedArm& arm, ProblemList& problems) const;
  void check_source(const ExpandedTask& task, const ExpandedArm& arm, ProblemList& problems) const;
  void check_comparison(const ExpandedTask& task, ProblemList& problems) const;

  const ParsedStudy& parsed_;
  const Selection& selection_;
  const Study& study_;
  RunCheck rules_;
  FileCheck files_;
  StudyNotes notes_;
};

}  // namespace ablate::config
