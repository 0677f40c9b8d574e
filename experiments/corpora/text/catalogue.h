#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/corpora/split.h"

namespace ablate::corpora {

/// The messages of a GNU gettext catalogue (.mo) and their translations, without contexts, marks of
/// keyboard shortcuts and further plural forms. Each message is its own document. Throws DataError
/// where the catalogue is damaged.
std::vector<Pair> messages_in(const std::string& name, std::string_view catalogue);

/// The first translations of the entries of Ding's dictionary, one "German | forms :: English |
/// forms" a line, without remarks in brackets. Each line is its own document.
std::vector<Pair> dictionary_entries(std::string_view dictionary);

}  // namespace ablate::corpora
