#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/tree.h"
#include "experiments/config/study/match.h"
#include "training/training_options.h"

namespace ablate::config {

struct Study;

/// "a, b, c and 7 more"
std::string listed(const std::vector<std::string>& names);

/// Collects possible mistakes of a valid study: values that a change of kind drops, keys that
/// nothing reads beside others, numbers of heads left at their default, a warm-up longer than
/// training, equal arms.
class StudyNotes {
 public:
  struct Place {
    std::string task, arm;
  };

  /// To be called once for every arm of a task, task by task.
  void add(const Place& run, const Experiment& experiment, const Tree& tree);

  /// The value of `key` that gives the arm the baseline's parameters.
  void add_match(const Place& run, const std::string& key, const Matched& matched);

  /// A sentence for each note, with the arms that it concerns.
  std::vector<std::string> sentences() const;

 private:
  void note(const std::string& sentence, const Place& run);
  std::vector<std::string> equal_arms() const;

  std::vector<std::string> order_;  // sentences in the order of their first use
  std::map<std::string, std::vector<std::string>> runs_;  // sentence -> task/arm
  std::vector<std::string> arms_;                         // in the order of the study
  std::map<std::string, std::string> meaning_;            // arm -> its experiments in all tasks
  size_t count_ = 0;
};

/// Says so if the study's seeds are too few to show that an arm is equal to the baseline, or no
/// worse: with Holm's correction k comparisons with a margin need log2(20 k) of them. A task of
/// which compare.test_sets lists none counts as one test set.
std::vector<std::string> notes_on_seeds(const Study& study);

/// Warnings about the training of a run of `steps` updates, for the reader of its results:
/// sentences without a full stop.
std::vector<std::string> training_notes(const training::TrainingOptions& options, int64_t steps);

}  // namespace ablate::config
