#pragma once

#include <span>
#include <string>

namespace ablate::training {

/// ROUGE F1, 0 to 1: words common to both (one), pairs of words (two), longest common subsequence.
struct RougeScore {
  double one = 0, two = 0, longest = 0;
  /// Whether the references have letters or digits, and at least half of them such that words are
  /// made of. Of no text, or of another script, it would be 0 whatever the outputs are.
  bool defined = true;
};

/// Of one output (UTF-8). Words are runs of a to z and 0 to 9 in the lower-cased text; 0 where
/// nothing is common.
RougeScore rouge(const std::string& hypothesis, const std::string& reference);

/// The means over the lines, equal to those of rouge-score 0.1.2 with its default tokenizer and no
/// stemming; 0 of no lines. Throws
/// std::invalid_argument where the numbers of lines differ.
RougeScore rouge(std::span<const std::string> hypotheses, std::span<const std::string> references);

}  // namespace ablate::training
