#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// The state of one search for the best values of one arm in one task. It follows from the study
/// and from the files of the arm's trial runs alone.
struct Search {
  std::optional<int64_t> seed;  // of the study, whose own search it is; absent: all seeds share it
  config::ArmSearch found;      // by this search alone
  /// Runs that have to end before the choice, including failed ones: a full disk or a kill does not
  /// depend on the values. Only divergence does, and it counts as the worst score.
  std::vector<config::RunSpecification> open;
  std::vector<config::RunSpecification> ended;  // the trial runs that have a score
  std::optional<config::Candidate> best;        // absent until the choice, or if all diverged
  config::Combination values;                   // of `best`

  /// Whether no values are left: all diverged, or those of the arm that it starts from.
  bool has_none() const { return open.empty() && !best; }
};

/// The searches of a study with tune, one for every selected task and arm, or by seed one for each
/// of their seeds; empty for a study without tune, and for one by curve.
/// An arm is tried with every combination of the values. If the best value of a key is the smallest
/// or the largest, the next value beyond is added, with every combination, at most `tune.extend`
/// times for each key and until the configuration refuses a value. An arm that starts from another
/// is tried on top of that arm's trial run with its best values, for which it waits
/// (RunSpecification::waits). It has that arm's values of all keys outside of `training`, and if it
/// is only evaluated, of all keys. Throws CheckpointError if a result.json is damaged.
std::vector<Search> searches(const config::Study& study, const StudyFolder& folder);

/// The trial runs that have not ended, of all searches; those that wait for the values of another
/// arm have `unknown` for them in their names.
std::vector<config::RunSpecification> open_trials(const config::Study& study,
                                                  const StudyFolder& folder);

/// The validation score of a run by which `tuning` chooses: NaN if the run diverged, absent if it
/// has not ended. Throws CheckpointError if its result.json is damaged.
std::optional<double> tuned_score(const config::Tuning& tuning, const RunFolder& folder);

/// How many runs there are, and how many of them have ended.
struct RunCount {
  int64_t ended = 0, all = 0;
};

/// The trial runs of the searches, as far as they are known, and the runs of the study.
struct StudyProgress {
  RunCount trials, runs;
};

/// How far a study is by its files. Throws CheckpointError if a result.json is damaged.
StudyProgress progress_of(const config::Study& study, const StudyFolder& folder);

/// "6 of 36 runs done"; while a study searches "search: 6 of 24 trials; then 36 runs" or, if some
/// arms have their values, "search: 20 of 24 trials; 6 of 36 runs done".
std::string progress_words(const StudyProgress& progress);

/// The study whose arms have the best values that were found by the validation metric, averaged
/// over the tuning seeds; test sets and the study's seeds play no part. Runs whose values are not
/// known wait (RunSpecification::waits). `tuning->searches` has what was tried. A study by curve
/// has no searches and stays as it is. Throws CheckpointError if a result.json is damaged.
config::Study with_best_values(config::Study study, const StudyFolder& folder);

}  // namespace ablate::records
