#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace ablate::training {

struct BleuOptions {
  bool lowercase = false;
};

/// What BLEU needs of sentences; the statistics of a corpus are the sum of its sentences'.
struct BleuStatistics {
  std::array<int64_t, 4> correct{};  // n-grams of the hypothesis that the reference has, clipped
  std::array<int64_t, 4> total{};    // n-grams of the hypothesis
  int64_t hypothesis_length = 0;     // in 13a tokens
  int64_t reference_length = 0;
  int64_t reference_fours = 0;  // 4-grams of the reference

  BleuStatistics& operator+=(const BleuStatistics& other);
  bool operator==(const BleuStatistics&) const = default;
};

/// Corpus BLEU, 0 to 100, with what it is made of.
struct BleuScore {
  double score = 0;
  bool defined = false;                // no output can match where no reference has a 4-gram
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
/// std::invalid_argument where the numbers of lines differ.
BleuScore bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
               BleuOptions options = {});

}  // namespace ablate::training
