#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/analysis/statistics/corpus_test.h"
#include "experiments/records/folders.h"

namespace ablate::analysis {

using Lines = std::vector<std::string>;

/// The counts of BLEU and chrF for the outputs of one run on one test set, sentence by sentence.
struct ScoredSentences {
  statistics::SentenceTable bleu, chrf;
  Lines references = {};
};

ScoredSentences score_sentences(const Lines& outputs, const Lines& references);

/// Both p values of the difference in BLEU, by the paired tests of sacreBLEU; 1 if all sentences
/// have equal counts. REQUIRES: the same number of sentences in both.
SentenceTest bleu_test(const ScoredSentences& arm, const ScoredSentences& baseline);

/// The same for chrF2.
SentenceTest chrf_test(const ScoredSentences& arm, const ScoredSentences& baseline);

/// Adds paired tests of BLEU and chrF between the outputs of each arm and the baseline, seed by
/// seed, from the study's folder, if both have the same references. Only for tasks of text
/// files, since generated tasks have no language.
void add_sentence_tests(TaskEvidence& task, const config::Study& study,
                        const records::StudyFolder& folder);

}  // namespace ablate::analysis
