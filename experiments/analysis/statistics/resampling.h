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
  int64_t bootstrap_trials = 1'000;
  int64_t randomisation_trials = 10'000;
  uint64_t seed = 12345;  // the defaults are sacreBLEU's
};

/// Tests whether two systems score differently on one test set, as sacreBLEU 2. The random draws
/// depend on the number of sentences alone, so they are made once for all pairs of systems:
/// five kilobytes of them for each sentence.
class Resampling {
 public:
  /// REQUIRES: 0 < sentences < 2^32.
  explicit Resampling(size_t sentences, ResamplingOptions options = {});

  size_t sentences() const { return sentences_; }

  /// p of the paired bootstrap (Koehn 2004): the same sentences drawn for both, how often the
  /// centred absolute difference exceeds the observed one. It is sacreBLEU's to the last digit, but
  /// for a resample that lies within its single precision of the observed difference. REQUIRES:
  /// tables of one width and sentences() rows, whose sums fit 32 bits.
  double bootstrap_p(const SentenceTable& left, const SentenceTable& right,
                     const CorpusScore& score) const;

  /// p of approximate randomisation (Riezler and Maxwell 2005): sentences change sides with
  /// probability a half, how often the absolute difference exceeds the observed one. Equal systems
  /// have p 1 / (trials + 1), as there. REQUIRES: as bootstrap_p().
  double randomisation_p(const SentenceTable& left, const SentenceTable& right,
                         const CorpusScore& score) const;

 private:
  size_t sentences_;
  ResamplingOptions options_;
  std::vector<uint32_t> drawn_;    // bootstrap trials x sentences
  std::vector<uint32_t> swapped_;  // a bit for each of randomisation trials x sentences
};

}  // namespace ablate::statistics
