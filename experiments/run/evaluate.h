#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"
#include "experiments/config/schema/experiment.h"
#include "experiments/records/result.h"
#include "experiments/records/run_plan.h"
#include "experiments/run/load_run.h"
#include "experiments/run/model_cost.h"
#include "training/inference/translator.h"
#include "training/likelihood.h"
#include "training/tensorboard/event.h"

namespace ablate::run {

struct Evaluation {
  std::vector<records::TestScores> tests;
  std::string bleu_signature, chrf_signature;
  std::vector<std::vector<std::string>> outputs;  // per test set, line by line
  ScoringPasses first_passes;                     // of the first test set; empty without one
};

/// Translates and scores all of every test set; running text is only scored. The weights must not
/// change afterwards. Throws LengthError if a test set or its outputs exceed the model's positions.
Evaluation evaluate(const training::Translator& translator, const std::vector<data::TestSet>& tests,
                    const config::Experiment& experiment);

/// Share of the target tokens, without end tokens, that the tokenizer does not know; NaN if there
/// are no targets or if they are classes.
double unknown_share(const data::EncodedSet& set, bool labels);

/// Scores of a model on the validation set.
struct Validation {
  training::Likelihood likelihood;
  double unknown_targets;  // share of the target tokens without their ends; NaN of classes
};
Validation validation_of(models::Transformer& model, const data::EncodedSet& set,
                         const training::LikelihoodOptions& options);
Validation validation_of(LoadedRun& run, const data::Corpus& corpus);

/// The part of result.json on a model and its scores, without the run and its training.
records::RunResult result_of(const models::Transformer& model, const Validation& validation,
                             Evaluation&& evaluation);

/// The hyperparameters of a run on TensorBoard: every value that its study or the command line set.
/// Runs that differ only in the seed are one group.
training::Session session_of(const records::RunPlan& plan, const config::Experiment& experiment);

/// The final scores that the run has, as test/<test set>/<score>.
std::vector<training::Scalar> final_scalars(const records::RunResult& result);

}  // namespace ablate::run
