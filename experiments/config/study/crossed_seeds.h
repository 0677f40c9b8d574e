#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/config/yaml/value.h"

namespace ablate::config {

struct ParsedStudy;

/// The seed of a run's initial values, and that of everything else that is random in its training.
struct SeedPair {
  int64_t initialization = 0, order = 0;
};

/// Each seed that is crossed with others is below this.
inline constexpr int64_t kCrossedSeeds = 1000;

/// The two seeds of a run. That of a crossed study is kCrossedSeeds * initialization + order; in
/// other studies both are the run's own.
constexpr SeedPair pair_of(int64_t seed, bool crossed) {
  if (!crossed) return {seed, seed};
  return {seed / kCrossedSeeds, seed % kCrossedSeeds};
}

/// The document with the list of all pairs in the place of `seeds: { initialization: [...], order:
/// [...] }`, which goes to `crossed`; a document that gives other seeds empties it.
Value with_listed_pairs(Value document, std::optional<Value>& crossed, ProblemList& problems);

/// Reports keys that need runs with seeds of their own.
void check_crossed(ParsedStudy& study);

/// Reports seeds that are no pairs of the study.
void check_pairs(const std::vector<int64_t>& seeds, const ParsedStudy& study,
                 ProblemList& problems);

}  // namespace ablate::config
