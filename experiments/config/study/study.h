#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/clause.h"
#include "experiments/config/study/selection.h"

namespace ablate::config {

/// The origin of a value that was not given.
inline constexpr const char* kDefaultOrigin = "default";

/// One run of a study.
struct RunSpecification {
  std::string task;
  std::string arm;
  int64_t seed = 0;
  Experiment experiment;
  /// Dotted path of every value -> kDefaultOrigin, "file:line" or "--set".
  std::map<std::string, std::string> origins;
  std::string stored;      // the arm whose folder holds the run; empty: `arm`
  std::string tuned_from;  // the arm that this one is with its best value; empty: not tuned
};

/// An arm with one of the values that are tried for the tuned key.
struct Candidate {
  std::string task, arm;
  std::string name;  // of its folder; `arm` if the arm has that value anyway
  size_t value = 0;  // index in Tuning::values
  Experiment experiment;
  std::map<std::string, std::string> origins;
};

/// The score of an arm with one of the values that were tried.
struct TriedValue {
  std::string task, arm;
  size_t value = 0;  // index in Tuning::values
  /// The mean of Tuning::metric over the tuning seeds; NaN if a run diverged.
  double score = std::numeric_limits<double>::quiet_NaN();
  bool chosen = false;
};

/// The search for the best value of a key.
struct Tuning {
  std::string key;
  std::vector<std::string> values;  // in the file's order
  ValidationMetric metric;
  std::vector<int64_t> seeds;
  std::vector<Candidate> candidates;  // for every selected task and arm
  std::vector<TriedValue> tried;      // the values with a score; see with_tuned_arms()
};

/// What the runs of one task and arm share.
struct Configuration {
  std::string task, arm;
  Experiment experiment;
};

/// The configuration of a task and an arm; null if `all` does not have it.
const Configuration* configuration_of(std::span<const Configuration> all, const std::string& task,
                                      const std::string& arm);

/// The configuration that trained the arm's weights: its own or, if it is only evaluated, that of
/// the arm that it starts from. Null if `all` does not have it.
const Configuration* trained_by(std::span<const Configuration> all, const std::string& task,
                                const std::string& arm);

/// A study with its runs: tasks x arms x seeds, in this order.
struct Study {
  std::string name;
  std::string question;
  std::string time;  // duration, as given in the file
  std::filesystem::path file;
  std::filesystem::path data_folder;  // base of relative data paths
  std::vector<int64_t> seeds;
  std::vector<std::string> tasks;
  std::vector<std::string> arms;
  std::optional<Comparison> compare;  // absent also if the baseline is not selected
  std::vector<Clause> expect;         // of the selected tasks and arms
  std::vector<RunSpecification> runs;
  std::optional<Tuning> tuning;
  std::vector<Configuration> configurations;  // every task and arm of the file, selected or not
  std::vector<int64_t> declared_seeds;        // the file's
  std::map<std::string, std::string> claims;  // the keys that do not define runs: claims_of()
  std::vector<std::string> notes;             // possible mistakes: StudyNotes
};

/// Reads a study; later values override earlier ones: defaults < base < task < arm < grid < --set.
/// Throws ConfigError with every problem of the file and of the selection.
Study read_study(const std::filesystem::path& file, const Selection& selection = {});

struct ParsedStudy;

/// The same for a file that was read before. Adds the problems instead of throwing; if there are
/// any, the study must not be used.
Study make_study(const ParsedStudy& parsed, const Selection& selection, ProblemList& problems);
Study make_study(const ParsedStudy& parsed, const Selection& selection);  // throws as read_study()

}  // namespace ablate::config
