#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/layer_changes.h"
#include "experiments/config/schema/tree.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/clause.h"
#include "experiments/config/study/match.h"
#include "experiments/config/study/selection.h"
#include "experiments/config/study/setting.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/study/tuning.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Lays values of an experiment over those given before.
void lay(const Value& layer, Tree& tree, ProblemList& problems);

/// Where each value of the experiment was given: kDefaultOrigin, "file:line" or "--set".
std::map<std::string, std::string> origins_of(const Layered& run,
                                              const std::filesystem::path& file);

/// A study file as read, without the options of the command line.
struct ParsedStudy {
  std::filesystem::path file;  // its name in studies and in the origins of values
  std::string text;            // of the whole study; the file's, unless it extends another
  StudyFile keys;
  Tree tree;  // of `keys`
  Tree base;  // of all tasks and arms
  std::vector<Setting> settings;
  std::vector<Variation> tasks;  // of `settings`; at least one
  std::vector<Variation> arms;   // at least one; the points of the grid if there are no others
  std::vector<Variation> sizes;
  std::optional<Tuning> tuning;  // without arms; absent if `tune` has no usable keys
  std::optional<Comparison> compare;
  std::vector<Clause> expect;
  std::optional<Value> crossed;  // `seeds` as given, if they are crossed; `keys` has the pairs
  ProblemList problems;

  bool given(const std::string& key) const { return tree.has(key); }
  bool readable(const std::string& key) const { return tree.readable(key); }
};

/// Reads a study file and collects its problems. Throws ConfigError if it holds no YAML mapping.
ParsedStudy parse_study(const std::filesystem::path& file);

/// A selection, checked against its study.
struct Chosen {
  Value sets;                            // one layer
  std::vector<std::string> tasks, arms;  // in the study's order
  std::vector<int64_t> seeds;
  std::optional<Tuning> tuning;  // with the seeds of its trial runs
  ParameterCounter count;        // for `match`
};

/// Reads the options of the command line, and reports tasks and arms that the study does not have.
Chosen chosen_of(const ParsedStudy& study, const Selection& selection, ProblemList& problems);

/// An arm in one task.
struct ExpandedArm {
  std::string name;
  bool selected = false;  // together with its task
  Tree given;             // to be laid over
  Layered run;
  std::optional<Matched> matched = {};
};

struct ExpandedTask {
  std::string name;  // of its setting
  const Setting& setting;
  bool selected = false;
  std::vector<ExpandedArm> arms;  // all of the file
};

/// The experiments of one setting, overlaid in the order base, task, size, grid, arm, options,
/// match.
ExpandedTask expand(const ParsedStudy& study, size_t setting, const Chosen& chosen,
                    ProblemList& problems);

}  // namespace ablate::config
