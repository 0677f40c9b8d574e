#pragma once

#include <string>

namespace ablate::config {

/// The kinds, words and keys of a study whose names and sentences together have every word of
/// `text` ("mixture of experts"), each at the beginning of a word: a line for each, kinds first.
/// Empty if no entry has them, or if `text` is a dotted path.
std::string keys_that_say(const std::string& text);

}  // namespace ablate::config
