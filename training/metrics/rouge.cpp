#include "training/metrics/rouge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tokenizer/text/unicode.h"
#include "training/metrics/bleu.h"
#include "training/metrics/unicode_text.h"

namespace ablate::training {
namespace {

using Words = std::vector<std::string>;

bool counts(char32_t letter) {
  return (letter >= U'a' && letter <= U'z') || (letter >= U'0' && letter <= U'9');
}

/// Whether there are letters or digits, at least half of them in a to z or 0 to 9.
bool in_its_letters(std::span<const std::string> texts) {
  int64_t seen = 0, all = 0;
  for (const auto& text : texts)
    for (const auto letter : tokenizer::code_points(tokenizer::lower_case(text))) {
      seen += counts(letter) ? 1 : 0;
      all += tokenizer::is_letter(letter) || tokenizer::is_digit(letter) ? 1 : 0;
    }
  return seen > 0 && 2 * seen >= all;
}

Words words_of(const std::string& text) {
  Words words;
  bool inside = false;
  for (const char letter : tokenizer::lower_case(text)) {
    const bool part = counts(static_cast<unsigned char>(letter));
    if (part && !inside) words.emplace_back();
    if (part) words.back() += letter;
    inside = part;
  }
  return words;
}

/// F1 of `matches` among the parts of the hypothesis and of the reference.
double f1(int64_t matches, int64_t hypothesis, int64_t reference) {
  return matches == 0
             ? 0
             : 2 * static_cast<double>(matches) / static_cast<double>(hypothesis + reference);
}

double f1_of_ngrams(const Words& hypothesis, const Words& reference, size_t order) {
  return f1(ngram_matches<std::string>(hypothesis, reference, order),
            ngram_count(hypothesis.size(), order), ngram_count(reference.size(), order));
}

int64_t longest_common_subsequence(const Words& left, const Words& right) {
  std::vector<int64_t> lengths(right.size() + 1, 0);  // with the words of `left` so far
  for (const auto& word : left) {
    int64_t before = 0;  // one word less of both
    for (size_t i = 0; i < right.size(); ++i) {
      const auto without = lengths[i + 1];
      lengths[i + 1] = word == right[i] ? before + 1 : std::max(without, lengths[i]);
      before = without;
    }
  }
  return lengths.back();
}

}  // namespace

RougeScore rouge(const std::string& hypothesis, const std::string& reference) {
  const auto left = words_of(hypothesis), right = words_of(reference);
  return {
      .one = f1_of_ngrams(left, right, 1),
      .two = f1_of_ngrams(left, right, 2),
      .longest = f1(longest_common_subsequence(left, right), std::ssize(left), std::ssize(right))};
}

RougeScore rouge(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  if (hypotheses.size() != references.size())
    throw std::invalid_argument(fmt::format("ROUGE of {} hypotheses and {} references",
                                            hypotheses.size(), references.size()));
  RougeScore mean{.defined = in_its_letters(references)};
  const auto share = 1 / static_cast<double>(std::max<size_t>(hypotheses.size(), 1));
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const auto score = rouge(hypotheses[i], references[i]);
    mean.one += share * score.one;
    mean.two += share * score.two;
    mean.longest += share * score.longest;
  }
  return mean;
}

namespace {

using SpacedWords = std::vector<std::string_view>;

/// Whether the text between two words separates them: a space, or several characters of white
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
  std::vector<int64_t> edits(right.size() + 1);  // from the words of `left` so far
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
