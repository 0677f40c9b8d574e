#pragma once

#include <string_view>
#include <vector>

namespace ablate::training {

// Text as Python's str sees it, which sacreBLEU's scores depend on; tokenizer::lower_case agrees.

/// str.split(): the runs between white space, which are parts of `text`. Python's white space is
/// Unicode's and the four separators U+001C to U+001F.
std::vector<std::string_view> split_words(std::string_view text);

/// str.rstrip().
std::string_view strip_end(std::string_view text);

}  // namespace ablate::training
