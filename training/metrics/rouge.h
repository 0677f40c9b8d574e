#pragma once

#include <span>
#include <string>

namespace ablate::training {

/// ROUGE F1, 0 to 1: words common to both (one), pairs of words (two), longest common subsequence.
struct RougeScore {
  double one = 0, two = 0, longest = 0;
  /// Whether the references have letters or digits, at least half of them in a to z or 0 to 9.
  /// ROUGE of empty text or of another script would always be 0.
  bool defined = true;
};

/// ROUGE of one output (UTF-8). Words are runs of a to z and 0 to 9 in the lower-cased text; 0
/// without common words.
RougeScore rouge(const std::string& hypothesis, const std::string& reference);

/// The means over the lines, equal to those of rouge-score 0.1.2 with its default tokenizer and no
/// stemming; 0 for no lines. Throws std::invalid_argument if the numbers of lines differ.
RougeScore rouge(std::span<const std::string> hypotheses, std::span<const std::string> references);

/// Word error rate: the fewest words to insert, delete or replace to turn the hypotheses into the
/// references, divided by the words of all references. Words are separated by a space or by two
/// characters of white space, as in jiwer. 0 is perfect, and it may exceed 1; NaN if no reference
/// has a word. Equal to that of jiwer 4.0.0. Throws std::invalid_argument if the numbers of lines
/// differ.
double word_error_rate(std::span<const std::string> hypotheses,
                       std::span<const std::string> references);

}  // namespace ablate::training
