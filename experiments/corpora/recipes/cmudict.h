#pragma once

#include "experiments/corpora/split.h"

namespace ablate::corpora {

/// The words of a CMU dictionary that have letters and apostrophes alone, letter by letter, each
/// with the first of its pronunciations, without stress. A word is its own document.
std::vector<Pair> pronunciations(const std::string& dictionary);

}  // namespace ablate::corpora
