#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/analysis/statistics/significance.h"
#include "experiments/records/folders.h"

namespace ablate::analysis {

using Lines = std::vector<std::string>;

/// The outputs of one run on one test set, as BLEU and chrF count them.
struct ScoredSentences {
  statistics::SentenceTable bleu, chrf;
};

ScoredSentences score_sentences(const Lines& outputs, const Lines& references);

/// Those of a run folder; nothing where it holds no output or reference of the test set, or other
/// numbers of lines.
std::optional<ScoredSentences> read_sentences(const records::RunFolder& run,
                                              const std::string& test_set);

/// Both p of two systems' BLEU, by the paired tests of sacreBLEU; 1 if every sentence of the one
/// has the statistics of the other's, so that there is nothing to test. REQUIRES: as many sentences
/// in both.
SentenceTest bleu_test(const ScoredSentences& arm, const ScoredSentences& baseline);

/// The same of chrF2.
SentenceTest chrf_test(const ScoredSentences& arm, const ScoredSentences& baseline);

}  // namespace ablate::analysis
