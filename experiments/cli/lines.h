#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/text_file.h"

namespace ablate::cli {

/// Bytes of the longest line that verbs read.
inline constexpr int64_t kLongestLine = 16'777'216;

/// The lines of standard input as they come, read as those of files are. They may hold any bytes,
/// so that every line is answered; a longer one than kLongestLine throws DataError.
class InputLines {
 public:
  /// The next line, which it waits for; nothing at the end. Throws DataError where the input cannot
  /// be read.
  std::optional<std::string> next();
  /// The next line and those that come behind it without a pause, `most` together; none at the end.
  std::vector<std::string> group(size_t most);
  /// Whether next() would wait, nothing having come for a moment: time to answer what has come.
  bool pauses() { return reader_.pauses(); }

 private:
  data::LineReader reader_{data::GzipFile::standard_input(), kLongestLine};
};

/// All lines of a file, or of standard input for "-"; none where it is empty. Throws DataError
/// where it cannot be read or a line is no text, with its number.
std::vector<std::string> read_text(const std::string& file);

}  // namespace ablate::cli
