#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/study/match.h"
#include "models/transformer_flops.h"
#include "training/likelihood.h"

namespace ablate::run {

/// The cost of a model for sources and targets of `length` tokens each.
struct ModelCost {
  int64_t parameters = 0;
  int64_t active_parameters = 0;  // of a mixture those that one position uses
  /// Floating-point operations of a forward pass (models/transformer_flops.h) over one source and
  /// one target, divided by `length`. A training step takes three times as many.
  double flops_per_token = 0;
  /// Bytes that one training pass keeps for its backward pass, per target token, measured.
  double activation_bytes_per_token = 0;
};

/// Parameters that one position uses: of a mixture's experts `active` and the shared ones.
int64_t active_parameter_count(const models::TransformerImpl& model);

/// Parameters of the embeddings and of the output's weight, each table once.
int64_t table_parameter_count(const models::TransformerImpl& model);

/// The passes that score a test set, and the tokens that they predict.
struct ScoringPasses {
  std::vector<models::PassExtent> extents;
  int64_t tokens = 0;
};

ScoringPasses scoring_passes(training::ScoredBatches batches);

/// Floating-point operations of these passes, divided by the tokens that they predict; NaN without
/// passes.
double flops_per_token(const models::TransformerImpl& model, const ScoringPasses& passes);

/// Counts the parameters of a run's model, each once. Builds it without values, and every model
/// only once.
config::ParameterCounter counted_parameters();

/// Why the run cannot train the parts of its model that it names; builds the model if it names any.
std::vector<training::TrainingProblem> check_parts(const config::Experiment& experiment);

/// The vocabularies that a model is counted with.
struct CountedVocabulary {
  models::Vocabulary sizes;
  std::string origin;  // the key or the flag that gives the number, or "the data"
};

/// The number of tokens that was `given` or that a key declares for text in files; else those of
/// the data, whose relative paths start at `folder`, as a run has them. Classes are always those of
/// the data. Throws DataError and TokenizerError.
CountedVocabulary counted_vocabulary(const config::Experiment& experiment,
                                     const std::filesystem::path& folder,
                                     const std::optional<int64_t>& given);

/// Runs one pass. REQUIRES: CachingAllocator installed, for the activation memory.
ModelCost cost_of(const models::TransformerOptions& options, const models::Vocabulary& vocabulary,
                  int64_t length);

}  // namespace ablate::run
