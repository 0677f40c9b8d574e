#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The arms with what their searches have found.
std::vector<TunedArm> arms_of(const std::vector<config::ArmSearch>& searches);

/// Sets each arm beside the baseline of its task.
void add_gains(TuningEvidence& tuning, const std::optional<std::string>& baseline);

/// Adds the values that were tried for each arm, their effect and the arms' gains to the evidence.
/// Unless all seeds share one value, a tuned key then does not count as a change of an arm.
void add_tuning(Evidence& evidence, const config::Tuning& tuning, std::vector<TunedArm> arms);

/// The mean score of the chosen values, or of the seeds' curves at the vertex; NaN without a
/// choice.
double best_score(const TunedArm& arm);

/// "copy: more minus base in validation perplexity: -0.120 at each arm's best, -0.310 to 0.050 at
/// equal values of training.schedule.peak."; empty without both.
std::string gain_sentence(const TunedArm& arm, const Evidence& evidence);

/// "+0.123", "-0.123", "+0.000"; "-" of NaN: a difference of scores.
std::string signed_figure(double difference);

/// How many searches of the arm have chosen the combination with this place.
int64_t times_chosen(const config::ArmSearch& search, size_t tried);

/// Whether every search of the arm has chosen values.
bool has_chosen(const config::ArmSearch& search);

/// The chosen value of a key or the vertex, or "0.004 (2), 0.008 (4)" if seeds have several; "-"
/// without any.
std::string chosen_values(const TunedArm& arm, size_t key);

/// The searches of the arm whose chosen value of the key is an end of its values.
int64_t at_edge(const config::ArmSearch& search, const config::TunedKey& key);

/// A sentence for each chosen value that is the smallest or the largest one that was tried.
void add_edges(const TuningEvidence& tuning, std::vector<std::string>& notes);

/// "peak at the edge of its grid", "3 trial runs to go", "every combination diverged"; empty if
/// there is nothing to say.
std::string remark_on(const TunedArm& arm, const TuningEvidence& tuning);

/// "training.schedule.peak and training.optimizer.weight_decay"
std::string paths_of(const TuningEvidence& tuning);

/// "seed 101", "seeds 101, 102", "a seed of its own (101, 102)"
std::string seeds_of(const TuningEvidence& tuning);

}  // namespace ablate::analysis
