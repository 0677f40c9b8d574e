#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/study/match.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Why a run cannot train the parts of its model that it names. This room is independent of
/// LibTorch, so it is given the function.
using PartCheck = std::function<std::vector<training::TrainingProblem>(const Experiment&)>;

/// The options of the command line that select and change the runs of a study.
struct Selection {
  std::vector<std::string> sets;   // key.path=value; for one path the last value wins
  std::vector<std::string> arms;   // empty: all
  std::vector<std::string> tasks;  // declared ones or settings; empty: all
  std::vector<std::string> sizes;  // empty: all
  std::vector<int64_t> seeds;      // empty: the study's
  std::optional<std::filesystem::path> data_folder;  // absent: the study file's folder
  bool with_files = false;                           // report those that cannot be used
  ParameterCounter count = {};                       // for `match`, which needs it
  PartCheck parts = {};                              // absent: the start of a run checks its own
};

/// The name that messages and origins give to options of the command line.
inline constexpr const char* kSetSource = "--set";

/// All `--set key.path=value` as one layer; of two values for one path the last one wins.
Value set_layer(const std::vector<std::string>& sets, ProblemList& problems);

/// The place of the words or seeds of a list option in problems.
Mark list_mark(const std::string& flag, const std::vector<std::string>& words);
Mark mark_of_seeds(const std::vector<int64_t>& seeds);

bool is_selected(const std::string& name, const std::vector<std::string>& names);

/// The names of a list option and of its members in messages.
struct ListOption {
  std::string flag;  // "--arms"
  std::string what;  // "arm"
};

/// The names of `all` that are in `wanted`, in the order of `all`; all of them if `wanted` is
/// empty.
std::vector<std::string> selected(const std::vector<std::string>& all,
                                  const std::vector<std::string>& wanted, const ListOption& option,
                                  ProblemList& problems);

void check_seeds(const std::vector<int64_t>& seeds, const Mark& mark, ProblemList& problems);

/// The seeds of the command line, checked.
std::vector<int64_t> selected_seeds(const Selection& selection, ProblemList& problems);

}  // namespace ablate::config
