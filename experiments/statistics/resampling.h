#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ablate::statistics {

/// What a corpus score needs of each sentence: whole numbers, whose sum over sentences is the
/// corpus's.
struct SentenceTable {
  size_t width = 0;              // numbers of one sentence
  std::vector<int64_t> numbers;  // sentences x width

  size_t sentences() const { return width == 0 ? 0 : numbers.size() / width; }
};

/// The score that summed numbers amount to.
using CorpusScore = std::function<double(std::span<const int64_t>)>;

struct ResamplingOptions {
  int64_t trials = 0;
  uint64_t seed = 12345;  // sacreBLEU's
};

/// p of two systems scoring differently on this test set (Koehn 2004), as sacreBLEU 2: the same
/// sentences drawn for both, how often the centred absolute difference exceeds the observed one.
/// The p is sacreBLEU's to the last digit, but for a resample that lies within its single precision
/// of the observed difference. REQUIRES: tables of one shape, not empty.
double paired_bootstrap_p(const SentenceTable& left, const SentenceTable& right,
                          const CorpusScore& score, ResamplingOptions options = {1'000});

/// The same by approximate randomisation (Riezler and Maxwell 2005), as sacreBLEU 2: sentences
/// change sides with probability a half, how often the absolute difference exceeds the observed
/// one. Equal systems have p 1 / (trials + 1), as there. REQUIRES: tables of one shape, not empty.
double approximate_randomisation_p(const SentenceTable& left, const SentenceTable& right,
                                   const CorpusScore& score, ResamplingOptions options = {10'000});

}  // namespace ablate::statistics
