#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "data/random.h"

namespace ablate::data {

/// A context-free grammar in levels: a symbol is replaced by two or three of the level below, by
/// one of its rules, all equally likely.
class Grammar {
 public:
  /// The lowest `levels` levels of a published grammar, that start from a level's first symbol.
  explicit Grammar(const Lano& task);

  /// The terminals of a drawn string, from 0 to 2.
  std::vector<int64_t> draw(Random& random) const;
  /// ln of the probability of a string over all of its derivations, by the inside algorithm (Baker
  /// 1979); -infinity if the grammar does not make it.
  double log_probability(std::span<const int64_t> string) const;

 private:
  using Rule = std::vector<int64_t>;             // symbols of the level below
  using Level = std::vector<std::vector<Rule>>;  // the rules of each symbol
  std::vector<Level> levels_;                    // from the start symbol's down
};

/// Strings of the grammar as lines of running text, of words from 1 to 3, drawn independently.
Corpus grammar_text(const Lano& task, uint64_t seed);

}  // namespace ablate::data
