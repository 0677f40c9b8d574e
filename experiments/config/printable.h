#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ablate::config {

/// Bytes of the UTF-8 character (RFC 3629) that begins at `text[0]`; 0: none does. REQUIRES: text
/// is not empty.
size_t utf8_length(std::string_view text);

/// `text` as a terminal may get it, with '?' for every control character but tabs and ends of lines,
/// for what turns round the order of reading, and for every byte that is no UTF-8.
std::string printable(std::string text);

/// The same as one line without tabs.
std::string printable_line(std::string text);

}  // namespace ablate::config
