#pragma once

#include <string>
#include <vector>

namespace ablate::config {

/// The kinds, words and keys of a study whose names and sentences together have every word of
/// `text` ("mixture of experts"), each at the beginning of a word: a line for each, kinds first.
/// Of a word that is the name of some of them, these alone. Empty if no entry has the words, or if
/// `text` is a dotted path.
std::string keys_that_say(const std::string& text);

/// The names of all kinds, words and keys of a study.
std::vector<std::string> names_of_entries();

}  // namespace ablate::config
