#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/layer_changes.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/yaml/value.h"
#include "options/enumeration.h"

namespace ablate::config {

/// A key whose best value is searched for.
struct TunedKey {
  std::string path;           // "training.schedule.peak"
  std::string name;           // the end of the path that no other tuned key has: "peak"
  std::vector<Value> values;  // in the file's order
};

/// An end of the values of a key.
ABLATE_ENUM(End, smallest, largest);

/// The scores of a combination of values that was tried for an arm.
struct TriedCombination {
  std::vector<std::string> values;  // of each key
  /// Of each tuning seed; NaN: the run diverged; absent: the search of this seed did not try it.
  std::vector<std::optional<double>> scores;
  bool declared = true;  // the file's; false: the values were continued
};

/// The choice of one search.
struct ChosenCombination {
  std::optional<size_t> tried;         // index in ArmSearch::tried; absent while runs are open
  std::map<std::string, End> at_edge;  // keys whose chosen value is an end of its values
};

/// The searches for the best values of one arm in one task.
struct ArmSearch {
  std::string task, arm;
  std::vector<TriedCombination> tried;       // whose runs have ended
  int64_t open = 0;                          // trial runs that have not ended
  std::vector<ChosenCombination> chosen{1};  // one, or one for each seed of the study
};

/// A selected arm in a selected task, without values of the tuned keys.
struct UntunedArm {
  std::string task, arm;
  std::shared_ptr<const Tree> given;
};

/// The search for the best values of keys.
struct Tuning {
  std::vector<TunedKey> keys;
  ValidationMetric metric = ValidationMetric::perplexity;
  TunedBy by = TunedBy::shared;
  /// Other than the study's; by seed one for each of the study's, and by curve these themselves.
  std::vector<int64_t> seeds;
  int64_t extend = 0;         // times that the values of a key are continued for an arm
  bool on_test_text = false;  // the file says that it may choose on what it tests on
  std::vector<UntunedArm> arms;
  std::vector<ArmSearch> searches;  // of arms that train; see records::with_best_values()
};

/// An arm with a combination of values.
struct Candidate {
  std::string task;
  std::string name;  // of its folder
  Experiment experiment;
  std::map<std::string, std::string> origins;  // as in RunSpecification
};

/// The remedy for a choice on the test text that is meant, behind data::kOwnTest.
inline constexpr const char* kOnTestText =
    "; if all that is tested is trained, as facts are, say so with tune.on_test_text: true";

/// Reads `tune`. Absent if it has no usable keys, which is reported.
std::optional<Tuning> read_tuning(const StudyFile& keys, const Tree& tree, ProblemList& problems);

/// Gives the study's seeds that are run their tuning seeds, and reports seeds of the study,
/// declared or run, that are tuning seeds.
void choose_seeds(Tuning& tuning, const StudyFile& keys, const std::vector<int64_t>& run,
                  const Mark& mark, ProblemList& problems);

/// The values of the file.
Axes declared_axes(const Tuning& tuning);

/// "base-peak=0.001-weight_decay=0.1"
std::string name_of(const std::string& arm, const Tuning& tuning, const Combination& combination);

/// The arm with the values, which override all others.
Layered with_values(Tree arm, const Tuning& tuning, const Combination& combination,
                    ProblemList& problems);

/// The same with its origins in `file`; absent if the values are refused.
std::optional<Candidate> candidate_of(const UntunedArm& arm, const Tuning& tuning,
                                      const Combination& combination,
                                      const std::filesystem::path& file);

/// Whether the values are two or more numbers.
bool have_ends(const std::vector<Value>& values);

/// The end of `values` that `value` is. Absent between the ends, and for values without ends.
std::optional<End> end_of(const std::vector<Value>& values, const Value& value);

/// The value of the key beyond that end: by the ratio of the last two values if both are positive,
/// and otherwise by their difference, in three digits or, of integers, the nearest. Absent if there
/// is none. REQUIRES: values that have ends.
std::optional<Value> value_beyond(const TunedKey& key, const std::vector<Value>& values, End end);

/// The mean of the scores that there are; NaN if a run diverged.
double mean_score(const TriedCombination& tried);

/// The score of the chosen combinations: the mean over all tuning seeds, or over the seeds' own.
/// NaN without a choice.
double chosen_score(const ArmSearch& search);

}  // namespace ablate::config
