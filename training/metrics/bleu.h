#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::training {

struct BleuOptions {
  bool lowercase = false;
};

/// Sufficient statistics of BLEU; those of a corpus are the sum of its sentences'.
struct BleuStatistics {
  std::array<int64_t, 4> correct{};  // n-grams of the hypothesis that the reference has, clipped
  std::array<int64_t, 4> total{};    // n-grams of the hypothesis
  int64_t hypothesis_length = 0;     // in 13a tokens
  int64_t reference_length = 0;
  int64_t reference_fours = 0;  // 4-grams of the reference

  BleuStatistics& operator+=(const BleuStatistics& other);
  bool operator==(const BleuStatistics&) const = default;
};

/// Corpus BLEU, 0 to 100, with its parts.
struct BleuScore {
  double score = 0;
  bool defined = false;                // false if no reference has a 4-gram to match
  std::array<double, 4> precisions{};  // 0 to 100, smoothed
  double brevity_penalty = 1;
  int64_t hypothesis_length = 0;
  int64_t reference_length = 0;
  std::string signature;  // sacreBLEU's, names the version this agrees with
};

/// The statistics of one sentence pair (UTF-8).
BleuStatistics bleu_statistics(const std::string& hypothesis, const std::string& reference,
                               BleuOptions options = {});

/// The score that statistics amount to: exponential smoothing, no effective order.
BleuScore bleu(const BleuStatistics& statistics, BleuOptions options = {});

/// Corpus BLEU as sacreBLEU computes it by default (13a tokens, one reference). Throws
/// std::invalid_argument if the numbers of lines differ.
BleuScore bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
               BleuOptions options = {});

/// The sacreBLEU whose scores these agree with; tests/training/golden/sacrebleu_golden.py uses it.
inline constexpr std::string_view kSacrebleuVersion = "2.6.0";

/// The tokens of a line (UTF-8) under mteval-v13a as sacreBLEU implements it: HTML entities
/// resolved, punctuation split off except between digits.
std::vector<std::string> tokenize_13a(std::string_view line);

/// How many n-grams `count` symbols have.
inline int64_t ngram_count(size_t count, size_t order) {
  return count < order ? 0 : static_cast<int64_t>(count - order + 1);
}

/// N-grams common to both, each as often as the side that has it less often.
template <class Symbol>
int64_t ngram_matches(std::span<const Symbol> left, std::span<const Symbol> right, size_t order) {
  using Ngram = std::span<const Symbol>;
  const auto before = [](Ngram a, Ngram b) { return std::ranges::lexicographical_compare(a, b); };
  const auto sorted = [&](Ngram symbols) {
    std::vector<Ngram> ngrams;
    for (size_t i = 0; i + order <= symbols.size(); ++i)
      ngrams.push_back(symbols.subspan(i, order));
    std::ranges::sort(ngrams, before);
    return ngrams;
  };
  std::vector<Ngram> common;
  std::ranges::set_intersection(sorted(left), sorted(right), std::back_inserter(common), before);
  return static_cast<int64_t>(common.size());
}

}  // namespace ablate::training
