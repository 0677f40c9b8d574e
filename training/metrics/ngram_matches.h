#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace ablate::training {

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
