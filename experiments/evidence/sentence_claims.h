#pragma once

#include <filesystem>

#include "experiments/config/study.h"
#include "experiments/evidence/evidence.h"

namespace ablate::experiments {

/// Adds what BLEU and chrF of the outputs in the study's folder say, each seed of each arm beside
/// the baseline's. Only in tasks that are read from text files: generated ones hold no language.
void add_sentence_tests(TaskEvidence& task, const Study& study,
                        const std::filesystem::path& folder);

}  // namespace ablate::experiments
