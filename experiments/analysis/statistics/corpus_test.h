#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ablate::statistics {

/// The counts of a corpus score for each sentence; their sums over sentences are the corpus's
/// counts.
struct SentenceTable {
  size_t width = 0;              // counts of one sentence
  std::vector<int64_t> numbers;  // sentences x width

  size_t sentences() const { return width == 0 ? 0 : numbers.size() / width; }
};

/// The counts of the whole corpus.
std::vector<int64_t> total(const SentenceTable& table);

/// The corpus score of summed counts.
using CorpusScore = std::function<double(std::span<const int64_t>)>;

// Tests whether two systems score differently on one test set, by the procedures of sacreBLEU 2
// with its numbers of trials. REQUIRES: tables of one width with the same number of sentences,
// which is not 0.

/// p of the paired bootstrap (Koehn 2004): the same sentences are drawn for both; p is how often
/// the centred absolute difference exceeds the observed one.
double bootstrap_p(const SentenceTable& left, const SentenceTable& right, const CorpusScore& score,
                   int64_t trials = 1'000);

/// p of approximate randomisation (Riezler and Maxwell 2005): sentences change sides with
/// probability 1/2; p is how often the absolute difference exceeds the observed one. Equal systems
/// have p = 1 / (trials + 1), as in sacreBLEU.
double randomisation_p(const SentenceTable& left, const SentenceTable& right,
                       const CorpusScore& score, int64_t trials = 10'000);

}  // namespace ablate::statistics
