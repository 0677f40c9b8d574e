#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/tree.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// The parameters of a model with this many tokens in each vocabulary. This room is independent of
/// LibTorch, so it is given the function.
using ParameterCounter = std::function<int64_t(const Experiment&, int64_t vocabulary)>;

/// The name that the origins of solved values give.
inline constexpr const char* kMatchSource = "match";

/// The number of tokens that a key gives a run's vocabulary.
struct DeclaredVocabulary {
  int64_t tokens = 0;
  std::string key;  // "tokenizer.vocabulary"
};

/// Absent if a file, another run or the training text decides.
std::optional<DeclaredVocabulary> declared_vocabulary(const Experiment& experiment);

/// Tokens of the vocabulary that sizes are matched with if no key declares it.
inline constexpr int64_t kMatchedVocabulary = 64;

/// The largest difference in parameters of arms that count as equally large, as a share.
inline constexpr double kMatchTolerance = 0.01;

/// What an arm is matched with and by.
struct MatchGoal {
  const Experiment& baseline;
  const std::string& key;  // dotted path of an integer
  Mark mark;               // of the key in the study file
  const ParameterCounter& count;
};

/// A solved value.
struct Matched {
  int64_t value = 0;
  int64_t parameters = 0, baseline = 0;  // of the arm and of the baseline
  int64_t vocabulary = 0;                // tokens that the arm's are counted with
};

/// Whether the model can be built and counted, since it breaks no rule.
bool has_size(const Experiment& experiment);

/// Whether an arm has another number of parameters than the baseline. Both REQUIRE has_size().
bool differs_in_size(const Experiment& arm, const MatchGoal& goal);

/// Lays over `arm` the whole number for the key with which its parameters come closest to the
/// baseline's, found by bisection, since parameters grow with every key of a size. Reports a value
/// that is still more than kMatchTolerance away, and keys that the arm does not have or that change
/// no parameter; `arm` is then unchanged.
std::optional<Matched> match(Tree& arm, const std::string& name, const MatchGoal& goal,
                             ProblemList& problems);

/// Reports a key that is not an integer of a run.
void check_matched_key(const std::string& key, const Mark& mark, ProblemList& problems);

}  // namespace ablate::config
