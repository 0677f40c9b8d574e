#include "experiments/config/yaml/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace ablate::config {
namespace {

constexpr size_t kLongestWord = 100;

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

size_t distance(std::string_view left, std::string_view right) {
  std::vector<size_t> before, above(right.size() + 1), row(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const bool same = lower(left[i - 1]) == lower(right[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[right.size()];
}

/// Edits that make the word the candidate; of one that begins like the whole word, up to its last
/// letter, those at the word's end alone.
size_t edits_to(std::string_view word, std::string_view candidate) {
  constexpr size_t kLongBeginning = 4;
  size_t common = 0;
  while (common < std::min(word.size(), candidate.size()) &&
         lower(word[common]) == lower(candidate[common]))
    ++common;
  const bool begins = common >= kLongBeginning && common + 1 >= word.size();
  return begins ? word.size() - common : distance(word, candidate);
}

size_t tolerance(std::string_view word) {
  return word.size() < 4 ? 1 : std::max<size_t>(2, word.size() / 3);
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > kLongestWord) return {};
  std::string best;
  size_t least = tolerance(word) + 1;
  for (const auto& candidate : known) {
    const size_t edits = edits_to(word, candidate);
    if (edits < least && edits < candidate.size()) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

std::string alternatives(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words[0];
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto meant = nearest(word, known);
  if (!meant.empty()) return fmt::format("; did you mean '{}'?", meant);
  return known.empty() ? "" : fmt::format("; choose {}", alternatives(known));
}

}  // namespace ablate::config
