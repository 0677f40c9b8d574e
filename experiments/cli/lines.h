#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace ablate::cli {

/// The next line of `in`; false at its end. Throws DataError where it ends because it cannot be
/// read, and what ended it otherwise, such as a line that memory has no room for.
bool next_line(std::istream& in, std::string& line);

/// Reads `in` in groups of at most `group` lines and calls `body` with each. A last line without
/// its end is a line.
void for_line_groups(std::istream& in, size_t group,
                     const std::function<void(const std::vector<std::string>&)>& body);

/// All lines of a file, or of standard input for "-". Throws DataError where it cannot be read.
std::vector<std::string> read_all_lines(const std::string& file);

}  // namespace ablate::cli
