#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::config {

/// The word of `known` with the smallest edit distance to `word` (insertions, deletions,
/// replacements and swaps); empty if all are too far from it.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

/// "; did you mean 'x'?", or else "; choose a, b or c".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace ablate::config
