#include "training/metrics/word_error_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "training/metrics/unicode_text.h"

namespace ablate::training {
namespace {

using SpacedWords = std::vector<std::string_view>;

/// Whether what stands between two words parts them: a space, or more than one character of white
/// space.
bool parts_words(std::string_view gap) {
  return gap == " " || tokenizer::code_points(gap).size() > 1;
}

SpacedWords spaced_words(std::string_view text) {
  SpacedWords words;
  for (const auto word : split_words(text)) {
    const auto begin = static_cast<size_t>(word.data() - text.data());
    const auto first =
        words.empty() ? begin : static_cast<size_t>(words.back().data() - text.data());
    const auto end = words.empty() ? begin : first + words.back().size();
    if (words.empty() || parts_words(text.substr(end, begin - end)))
      words.push_back(word);
    else
      words.back() = text.substr(first, begin + word.size() - first);
  }
  return words;
}

/// Levenshtein's distance.
int64_t edits_between(const SpacedWords& left, const SpacedWords& right) {
  std::vector<int64_t> edits(right.size() + 1);  // from what is read of `left` so far
  std::iota(edits.begin(), edits.end(), 0);
  for (const auto& word : left) {
    auto diagonal = edits[0]++;  // one word less of both
    for (size_t i = 0; i < right.size(); ++i) {
      const auto replaced = diagonal + (word == right[i] ? 0 : 1);
      diagonal = edits[i + 1];
      edits[i + 1] = std::min({replaced, edits[i] + 1, edits[i + 1] + 1});
    }
  }
  return edits.back();
}

}  // namespace

double word_error_rate(std::span<const std::string> hypotheses,
                       std::span<const std::string> references) {
  if (hypotheses.size() != references.size())
    throw std::invalid_argument(fmt::format("word error rate of {} hypotheses and {} references",
                                            hypotheses.size(), references.size()));
  int64_t edits = 0, words = 0;
  for (size_t i = 0; i < references.size(); ++i) {
    const auto reference = spaced_words(references[i]);
    edits += edits_between(spaced_words(hypotheses[i]), reference);
    words += std::ssize(reference);
  }
  if (words == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(edits) / static_cast<double>(words);
}

}  // namespace ablate::training
