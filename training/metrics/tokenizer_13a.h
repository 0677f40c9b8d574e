#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::training {

/// The tokens of a line (UTF-8) under mteval-v13a as sacreBLEU implements it: HTML entities
/// resolved, punctuation split off except between digits.
std::vector<std::string> tokenize_13a(std::string_view line);

}  // namespace ablate::training
