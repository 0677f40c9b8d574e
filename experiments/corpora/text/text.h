#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::corpora {

/// In NFC, without soft hyphens, with one space for every run of white space and none at the ends.
std::string normalized(std::string_view text);

/// Runs of anything but spaces in a normalized text.
std::vector<std::string> words_of(std::string_view text);
size_t count_words(std::string_view text);

/// A normalized paragraph, divided after each of `ends` where a capital, a digit, a quotation mark
/// or a bracket follows.
std::vector<std::string> sentences(const std::string& paragraph, std::string_view ends = ".!?");

}  // namespace ablate::corpora
