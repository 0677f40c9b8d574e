#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"
#include "experiments/config/experiment.h"
#include "experiments/records/result.h"
#include "experiments/run/load_run.h"
#include "experiments/run/model_cost.h"
#include "training/inference/translator.h"
#include "training/likelihood.h"

namespace ablate::run {

struct Evaluation {
  std::vector<records::TestScores> tests;
  std::string bleu_signature, chrf_signature;
  std::vector<std::vector<std::string>> outputs;  // per test set, line by line
  ScoringPasses first_passes;                     // of the first test set
};

/// Translates and scores every test set, all of it; running text is scored without translating
/// anything. The weights must not change afterwards. Throws LengthError where the model has no
/// positions for the whole of a test set and its outputs.
Evaluation evaluate(const training::Translator& translator, const std::vector<data::TestSet>& tests,
                    const config::Experiment& experiment);

/// Share of the target tokens, without end tokens, that the tokenizer does not know; NaN if there
/// are no targets or if they are classes.
double unknown_share(const data::EncodedSet& set, bool labels);

/// What a model says of the validation set.
struct Validation {
  training::Likelihood likelihood;
  double unknown_targets;  // share of the target tokens without their ends; NaN of classes
};
Validation validation_of(models::Transformer& model, const data::EncodedSet& set,
                         const training::LikelihoodOptions& options);
Validation validation_of(LoadedRun& run, const data::Corpus& corpus);

/// What result.json says of a model and its scores. Which run it is of, and how it was trained, is
/// left to fill in.
records::RunResult result_of(const models::Transformer& model, const Validation& validation,
                             Evaluation&& evaluation);

}  // namespace ablate::run
