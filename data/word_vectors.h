#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ablate::data {

/// Vectors of words.
using WordVectors = std::unordered_map<std::string, std::vector<float>>;

/// The vectors of the `wanted` words in the file; of a repeated word the first. The file has
/// word2vec's format, text or binary (a first line with the number of words and the width), or
/// GloVe's (no such line), plain or gzip. Throws DataError, with the line or the word's number, if
/// the vectors are not `width` numbers wide, not finite, or the file is cut off.
WordVectors read_word_vectors(const std::filesystem::path& file,
                              const std::unordered_set<std::string>& wanted, int64_t width);

}  // namespace ablate::data
