#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/masking.h"
#include "experiments/config/experiment.h"
#include "experiments/result.h"
#include "training/translate.h"

namespace ablate::experiments {

struct Evaluation {
  std::vector<TestScores> tests;
  std::string bleu_signature, chrf_signature;
  std::vector<std::vector<std::string>> outputs;  // per test set, a line for a line
};

/// The ids of examples as the experiment's model reads and writes them.
data::EncodedSet encode_for(const Experiment& experiment, const data::Tokenizers& tokenizers,
                            std::span<const data::Example> examples);

/// What a masked language model's batches hide; nothing in other experiments.
std::optional<data::Masking> masking_of(const Experiment& experiment,
                                        const data::Tokenizers& tokenizers);

/// Translates and scores every test set; running text is scored without translating anything. The
/// weights must not change afterwards.
Evaluation evaluate(training::Translator& translator, const std::vector<data::TestSet>& tests,
                    const Experiment& experiment);

}  // namespace ablate::experiments
