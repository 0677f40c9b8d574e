#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ablate::statistics {

/// Two-sided p of the hypothesis that paired differences are symmetric about 0 (Fisher's
/// randomisation test): the share of sign patterns whose sum is at least as far from 0 as the
/// observed one, which is joint_sign_flip_p() of one sample. 1 if there are no differences.
/// REQUIRES: finite values.
double sign_flip_p(std::span<const double> differences);

/// p of the hypothesis that the centre of paired differences is `margin` or more from 0: the
/// greater p of two one-sided tests (Schuirmann 1987), of a centre <= -margin and of a centre >=
/// margin. Each is the share of sign patterns of the distances from that bound whose sum is at
/// least the observed one. Exact or drawn as in sign_flip_p(). REQUIRES: finite values, margin > 0.
double equivalence_p(std::span<const double> differences, double margin);

/// Two-sided p of the paired t-test (Student 1908) of the hypothesis that the mean is 0, which
/// assumes normal differences. 1 of fewer than two; 0 if they are equal and not 0. REQUIRES: finite
/// values.
double t_test_p(std::span<const double> differences);

/// The same of the hypothesis that the mean is <= 0, one-sided.
double t_greater_p(std::span<const double> differences);

/// The smallest p that `count` differences can give: 2 / 2^n, at most 1.
double smallest_sign_flip_p(int64_t count);

/// The smallest p of equivalence that `count` differences can give: 1 / 2^n.
double smallest_equivalence_p(int64_t count);

/// The fewest differences whose smallest p, by one of the functions above, is at most `level` after
/// it is multiplied by `comparisons`.
int64_t differences_needed(double level, int64_t comparisons, double (*smallest)(int64_t));

/// Holm's step-down adjustment (Holm 1979), in the order of `p`: an adjusted p of at most a level
/// keeps the chance of any false claim among all of them at that level.
std::vector<double> holm(std::span<const double> p);

/// The counts of a corpus score for each sentence; their sums over sentences are the corpus's
/// counts.
struct SentenceTable {
  size_t width = 0;              // counts of one sentence
  std::vector<int64_t> numbers;  // sentences x width

  size_t sentences() const { return width == 0 ? 0 : numbers.size() / width; }
};

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
