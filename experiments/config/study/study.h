#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/clause.h"
#include "experiments/config/study/selection.h"
#include "experiments/config/study/setting.h"
#include "experiments/config/study/tuning.h"

namespace ablate::config {

/// The origin of a value that was not given.
inline constexpr const char* kDefaultOrigin = "default";

/// One run of a study.
struct RunSpecification {
  std::string task;  // the setting's name
  std::string arm;
  int64_t seed = 0;
  Experiment experiment;
  /// Dotted path of every value -> kDefaultOrigin, "file:line", "--set" or "match".
  std::map<std::string, std::string> origins;
  std::string waits;       // why its configuration is not known yet; empty: it is
  bool trial = false;      // a run of tune, which is scored on no test set
  std::string point = {};  // of its arm's curve: "peak=0.004"; empty without curves
};

/// The arm's name in the study's folder: "base", or at a point of its curve "base-peak=0.004".
inline std::string folder_arm(const RunSpecification& run) {
  return run.point.empty() ? run.arm : run.arm + "-" + run.point;
}

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

/// The parts of a study that were added after a report of the others had been made.
struct LateParts {
  std::vector<int64_t> seeds;
  std::vector<std::string> arms, tasks, sizes;
  std::vector<std::string> values;  // of the grid: "training.schedule.peak=0.004"
};

/// A study with its runs: tasks x arms x seeds, or by curve tasks x arms x values x seeds, in this
/// order.
struct Study {
  std::string name;
  std::string question;
  std::string time;  // duration, as given in the file
  std::filesystem::path file;
  std::filesystem::path data_folder;  // base of relative data paths
  std::vector<int64_t> seeds;
  std::vector<std::string> tasks;  // the names of `settings`
  std::vector<Setting> settings;
  std::vector<std::string> arms;
  std::optional<Comparison> compare;           // absent also if the baseline is not selected
  std::optional<Comparison> declared_compare;  // also if the baseline is not selected
  std::vector<Clause> expect;                  // of the selected tasks and arms
  std::vector<RunSpecification> runs;
  std::optional<Tuning> tuning;               // of a study with tune
  std::vector<Configuration> configurations;  // every task and arm of the file, selected or not
  std::vector<Setting> declared_settings;     // of the file, selected or not
  std::vector<int64_t> declared_seeds;        // the file's
  bool crossed = false;                       // every seed is one of the pairs of crossed seeds
  LateParts late;
  std::map<std::string, std::string> claims;  // the keys that do not define runs: claims_of()
  std::vector<std::string> notes;             // possible mistakes: StudyNotes

  /// Whether its tests hold at every look, so that seeds may be added until it is decided.
  bool looks_often() const { return compare && compare->test == PairedTest::e_value; }

  /// Whether every seed runs every value of a key, and arms are compared at their curves' vertices.
  bool by_curve() const { return tuning && tuning->by == TunedBy::curve; }
};

/// The first run of a task and an arm; null if the study has no such run.
inline const RunSpecification* find_run(const Study& study, const std::string& task,
                                        const std::string& arm) {
  for (const auto& run : study.runs)
    if (run.task == task && run.arm == arm) return &run;
  return nullptr;
}

/// Reads a study; later values override earlier ones: defaults < base < task < size < grid < arm <
/// --set < match.
/// Throws ConfigError with every problem of the file and of the selection.
Study read_study(const std::filesystem::path& file, const Selection& selection = {});

struct ParsedStudy;

/// The same for a file that was read before. Adds the problems instead of throwing; if there are
/// any, the study must not be used.
Study make_study(const ParsedStudy& parsed, const Selection& selection, ProblemList& problems);
Study make_study(const ParsedStudy& parsed, const Selection& selection);  // throws as read_study()

}  // namespace ablate::config
