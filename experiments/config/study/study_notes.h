#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/reader.h"
#include "training/training_options.h"

namespace ablate::config {

/// "a, b, c and 7 more"
std::string listed(const std::vector<std::string>& names);

/// Collects what a study that can be run may not mean as it says it: values that another kind
/// drops, heads that nobody counted, a warm-up that does not end, arms that are the same.
class StudyNotes {
 public:
  struct Place {
    std::string task, arm;
  };

  /// Every arm of a task comes once, and those of one task in a row.
  void add(const Place& run, const Experiment& experiment, const Trail& trail);

  /// One sentence each, with the arms that it is about.
  std::vector<std::string> sentences() const;

 private:
  void note(const std::string& sentence, const Place& run);
  std::vector<std::string> equal_arms() const;

  std::vector<std::string> order_;                        // sentences as they came
  std::map<std::string, std::vector<std::string>> runs_;  // sentence -> task/arm
  std::vector<std::string> arms_;                         // as they came
  std::map<std::string, std::string> meaning_;            // arm -> what it is in every task
  size_t count_ = 0;
};

/// What a reader of the results of a run of `steps` updates should know of how it trains, though it
/// is no error: a sentence each, without its end.
std::vector<std::string> training_notes(const training::TrainingOptions& options, int64_t steps);

}  // namespace ablate::config
