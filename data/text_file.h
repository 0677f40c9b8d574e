#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::data {

/// One line without its line end, and why it cannot be used ("" where it can).
struct Line {
  std::string text;
  std::string fault;
};

/// Reads a text file, plain or gzip (by its first bytes). Line ends are LF or CRLF, a missing last
/// one is fine, a byte-order mark is left out. Invalid UTF-8, NUL and over-long lines are faults of
/// their line. Throws DataError where the file cannot be read, is empty, or is an archive that is
/// damaged or unpacks to more than 16 GiB or 200 times its size.
std::vector<Line> read_lines(const std::filesystem::path& file, int64_t max_line_bytes);

}  // namespace ablate::data
