#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/clause.h"
#include "experiments/config/study/selection.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// An experiment and the places of its values.
struct Layered {
  Experiment experiment;
  Trail trail;
};

/// Overlays an experiment with values, which override those given before.
void lay(const Value& layer, Layered& run, ProblemList& problems);

/// An arm with one of the values that are tried for the tuned key.
struct TriedChange {
  std::string arm;
  size_t value = 0;  // index in tune.values
  Variation change;  // its name is the name of the folder
};

/// A study file as read, without the options of the command line.
struct ParsedStudy {
  std::filesystem::path file;  // its name in studies and in the origins of values
  std::shared_ptr<const Source> source;
  Value document;
  StudyFile keys;
  Trail trail;                         // of `keys`
  Layered base;                        // of all tasks and arms
  std::vector<Variation> tasks, arms;  // at least one of each; with the arms of the grid
  bool tunes = false;                  // `tune` has a key and values
  std::vector<TriedChange> tried;      // every arm with every value
  std::optional<Comparison> compare;
  std::vector<Clause> expect;
  ProblemList problems;

  bool given(const std::string& key) const { return trail.marks.contains(key); }
  bool readable(const std::string& key) const { return !trail.failed.contains(key); }
};

/// Reads a study file and collects its problems. Throws ConfigError if it holds no YAML mapping.
ParsedStudy parse_study(const std::filesystem::path& file);

/// A selection, checked against its study.
struct Chosen {
  Value sets;                            // one layer
  std::vector<std::string> tasks, arms;  // in the study's order
  std::vector<int64_t> seeds;
};

/// Reads the options of the command line, and reports tasks and arms that the study does not have.
Chosen chosen_of(const ParsedStudy& study, const Selection& selection, ProblemList& problems);

/// An arm with one of the values that are tried for the tuned key.
struct ExpandedChange {
  const TriedChange* tried;
  Layered run;
};

/// An arm in one task.
struct ExpandedArm {
  std::string name;
  bool selected = false;  // together with its task
  Layered run;
  std::vector<ExpandedChange> tried;  // empty if the task is not selected
};

struct ExpandedTask {
  std::string name;
  bool selected = false;
  std::vector<ExpandedArm> arms;  // all of the file
};

/// The experiments of one task, overlaid in the order base, task, arm, grid, options.
ExpandedTask expand(const ParsedStudy& study, const Variation& task, const Chosen& chosen,
                    ProblemList& problems);

}  // namespace ablate::config
