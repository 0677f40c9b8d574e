#pragma once

#include "experiments/analysis/evidence.h"
#include "experiments/config/study.h"
#include "experiments/records/folders.h"

namespace ablate::analysis {

/// Adds what BLEU and chrF of the outputs in the study's folder say, each seed of each arm beside
/// the baseline's. Only in tasks that are read from text files: generated ones hold no language.
void add_sentence_tests(TaskEvidence& task, const config::Study& study,
                        const records::StudyFolder& folder);

}  // namespace ablate::analysis
