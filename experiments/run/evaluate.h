#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"
#include "experiments/config/experiment.h"
#include "experiments/records/result.h"
#include "training/inference/translator.h"

namespace ablate::run {

struct Evaluation {
  std::vector<records::TestScores> tests;
  std::string bleu_signature, chrf_signature;
  std::vector<std::vector<std::string>> outputs;  // per test set, line by line
};

/// Translates and scores every test set; running text is scored without translating anything. The
/// weights must not change afterwards.
Evaluation evaluate(const training::Translator& translator, const std::vector<data::TestSet>& tests,
                    const config::Experiment& experiment);

}  // namespace ablate::run
