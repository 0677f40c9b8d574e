#pragma once

#include <string>

namespace ablate::config {

/// `text` as a terminal may get it: every control character but tabs and ends of lines, and every
/// byte that is no UTF-8, as '?'.
std::string printable(std::string text);

/// The same as one line without tabs.
std::string printable_line(std::string text);

}  // namespace ablate::config
