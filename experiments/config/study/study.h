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

/// The origin of a value that neither the study nor the command line names.
inline constexpr const char* kDefaultOrigin = "default";

/// One run of a study.
struct RunSpecification {
  std::string task;
  std::string arm;
  int64_t seed = 0;
  Experiment experiment;
  /// Dotted path of every value -> kDefaultOrigin, "file:line" or "--set".
  std::map<std::string, std::string> origins;
  std::string stored;      // the arm whose folder holds it; empty: its own
  std::string tuned_from;  // the arm that this is at its best value; empty: none
};

/// An arm with one of the values that are tried for the tuned key.
struct Candidate {
  std::string task, arm;
  std::string name;  // of its folder; `arm` itself if it has that value already
  size_t value = 0;  // which one, of Tuning::values
  Experiment experiment;
  std::map<std::string, std::string> origins;
};

/// How an arm did with one of the values that were tried.
struct TriedValue {
  std::string task, arm;
  size_t value = 0;  // which one, of Tuning::values
  /// The mean of Tuning::metric over the tuning seeds; NaN where a run diverged.
  double score = std::numeric_limits<double>::quiet_NaN();
  bool chosen = false;
};

/// How the best value of a key is looked for.
struct Tuning {
  std::string key;
  std::vector<std::string> values;  // in the file's order
  ValidationMetric metric;
  std::vector<int64_t> seeds;
  std::vector<Candidate> candidates;  // of every selected task and arm
  std::vector<TriedValue> tried;      // those that have a score; see with_tuned_arms()
};

/// What the runs of one task and arm share.
struct Configuration {
  std::string task, arm;
  Experiment experiment;
};

/// That of a task and an arm; null where `all` does not have it.
const Configuration* configuration_of(std::span<const Configuration> all, const std::string& task,
                                      const std::string& arm);

/// The one of `all` whose training the arm's weights have been through: its own, or, where it is
/// only evaluated, that of the arm it starts from. Null where `all` does not have it.
const Configuration* trained_by(std::span<const Configuration> all, const std::string& task,
                                const std::string& arm);

/// An experiment in full. The runs are tasks x arms x seeds, in this order.
struct Study {
  std::string name;
  std::string question;
  std::string time;  // that it takes, as the file says
  std::filesystem::path file;
  std::filesystem::path data_folder;  // where relative paths of data start
  std::vector<int64_t> seeds;
  std::vector<std::string> tasks;
  std::vector<std::string> arms;
  std::optional<Comparison> compare;  // absent, too, where the baseline is not selected
  std::vector<Clause> expect;         // of the selected tasks and arms
  std::vector<RunSpecification> runs;
  std::optional<Tuning> tuning;
  std::vector<Configuration> configurations;  // every task and arm of the file, selected or not
  std::vector<int64_t> declared_seeds;        // the file's
  std::map<std::string, std::string> claims;  // what the file says beside its runs: claims_of()
  std::vector<std::string> notes;             // what it may not mean as it says it: StudyNotes
};

/// Reads a study; values given later win: defaults < base < task < arm < grid < --set. Throws
/// ConfigError with every problem of the file and of the selection.
Study read_study(const std::filesystem::path& file, const Selection& selection = {});

struct ParsedStudy;

/// The same of a file that has been read before. Adds the problems instead of throwing; if there
/// are any, the study is of no use.
Study make_study(const ParsedStudy& parsed, const Selection& selection, ProblemList& problems);
Study make_study(const ParsedStudy& parsed, const Selection& selection);  // throws as read_study()

}  // namespace ablate::config
