#pragma once

#include <string>
#include <vector>

#include "experiments/corpora/split.h"

namespace ablate::corpora {

/// The sentences of a page of LibreOffice's help in HTML and of its translation: block by block
/// where both have the same blocks, else those with the same id.
std::vector<Pair> help_pairs(const std::string& document, const std::string& page,
                             const std::string& translation);

/// The sentences of a page of GNOME's help in Mallard's XML and of its translation; none where the
/// two differ in their blocks.
std::vector<Pair> mallard_pairs(const std::string& document, const std::string& page,
                                const std::string& translation);

}  // namespace ablate::corpora
