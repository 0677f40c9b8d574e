#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "experiments/corpora/split.h"

namespace ablate::corpora {

/// A language that English is translated into.
struct Language {
  std::string code;                         // "de"
  std::vector<std::string> function_words;  // of which nearly every sentence has one
  std::string translators_section;          // heading of the end of a translated man page
};

Language german();
Language french();
Language italian();

/// Appends the sentences of two paragraphs that translate each other: pair by pair where both have
/// as many, else the paragraphs as they are. Equal ones are left out.
void add_sentences(std::vector<Pair>& pairs, const Pair& paragraphs, std::string_view ends = ".!?");

/// Whether two texts look like a sentence and its translation: 3 to 80 words against 1 to 80,
/// lengths within a factor of 2.5, letters for 70 % of either, at most 60 % of the words copied,
/// and not English on both sides.
bool is_clean(const Pair& pair, const Language& language);

/// Gathers clean pairs: the first of those with the same source, whatever the case of its letters.
class CleanPairs {
 public:
  explicit CleanPairs(const Language& language) : language_(language) {}

  /// Returns how many of them are clean and new.
  int64_t add(std::vector<Pair> pairs);
  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  const Language& language_;
  std::vector<Pair> pairs_;
  std::unordered_set<std::string> sources_;  // in lower case
};

}  // namespace ablate::corpora
