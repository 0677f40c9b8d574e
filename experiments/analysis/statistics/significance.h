#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ablate::statistics {

/// More differences than this are tested by drawing flips instead of trying all of them.
inline constexpr int64_t kMostExactFlips = 20;
inline constexpr int64_t kDrawnFlips = 100'000;

/// Two-sided p of paired differences having the centre 0 (Fisher's randomisation test): the share
/// of sign patterns whose sum is at least as far from 0 as the observed one. Exact, all 2^n
/// patterns, to kMostExactFlips differences; beyond that (hits + 1) / (kDrawnFlips + 1) of patterns
/// drawn with a fixed seed. 1 of no differences. REQUIRES: finite values.
double sign_flip_p(std::span<const double> differences);

/// p of the centre of paired differences lying `margin` or more from 0: the greater one of two
/// one-sided tests (Schuirmann 1987), that it lies at -margin or below and at margin or above, each
/// the share of sign patterns of the distances from there whose sum is at least the observed one.
/// Exact or drawn as sign_flip_p(). REQUIRES: finite values, margin > 0.
double equivalence_p(std::span<const double> differences, double margin);

/// The smallest p that `count` differences can give: 2 / 2^n, at most 1.
double smallest_sign_flip_p(int64_t count);

/// The smallest p of equivalence that they can give: 1 / 2^n.
double smallest_equivalence_p(int64_t count);

/// The fewest differences whose smallest p, by one of the functions above, is at most `level` after
/// it is multiplied by `comparisons`.
int64_t differences_needed(double level, int64_t comparisons, double (*smallest)(int64_t));

/// Holm's step-down adjustment (Holm 1979), in the order of `p`: an adjusted p of at most a level
/// keeps the chance of any false claim among all of them at that level. Where no more than
/// `most_true` of the hypotheses can be true at once, no p is multiplied by more (Shaffer 1986).
std::vector<double> holm(std::span<const double> p, size_t most_true);

/// The same where all hypotheses can be true at once.
inline std::vector<double> holm(std::span<const double> p) { return holm(p, p.size()); }

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
