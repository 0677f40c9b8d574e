#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ablate::statistics {

/// Of everything that is drawn to judge results, so that the same runs are judged alike every time.
inline constexpr uint64_t kResamplingSeed = 1;

/// What a corpus score needs of each sentence: whole numbers, whose sum over sentences is the
/// corpus's.
struct SentenceTable {
  size_t width = 0;              // numbers of one sentence
  std::vector<int64_t> numbers;  // sentences x width

  size_t sentences() const { return width == 0 ? 0 : numbers.size() / width; }
};

/// The score that summed numbers amount to.
using CorpusScore = std::function<double(std::span<const int64_t>)>;

// Tests whether two systems score differently on one test set, by the procedures of sacreBLEU 2
// with its numbers of trials. REQUIRES: tables of one width with the same number of sentences,
// which is not 0.

/// p of the paired bootstrap (Koehn 2004): the same sentences drawn for both, how often the centred
/// absolute difference exceeds the observed one.
double bootstrap_p(const SentenceTable& left, const SentenceTable& right, const CorpusScore& score,
                   int64_t trials = 1'000);

/// p of approximate randomisation (Riezler and Maxwell 2005): sentences change sides with
/// probability a half, how often the absolute difference exceeds the observed one. Equal systems
/// have p 1 / (trials + 1), as there.
double randomisation_p(const SentenceTable& left, const SentenceTable& right,
                       const CorpusScore& score, int64_t trials = 10'000);

}  // namespace ablate::statistics
