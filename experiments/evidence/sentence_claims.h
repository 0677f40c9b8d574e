#pragma once

#include "experiments/config/study.h"
#include "experiments/evidence/evidence.h"
#include "experiments/records/folders.h"

namespace ablate::experiments {

/// Adds what BLEU and chrF of the outputs in the study's folder say, each seed of each arm beside
/// the baseline's. Only in tasks that are read from text files: generated ones hold no language.
void add_sentence_tests(TaskEvidence& task, const Study& study, const StudyFolder& folder);

}  // namespace ablate::experiments
