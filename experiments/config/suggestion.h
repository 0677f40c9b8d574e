#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::config {

/// The word of `known` that `word` was probably meant to be; empty where none is near. Nearness is
/// the number of letters inserted, deleted, replaced or swapped.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

/// "; did you mean 'x'?", or else "; choose a, b or c".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace ablate::config
