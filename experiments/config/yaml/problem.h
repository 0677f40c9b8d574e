#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::config {

/// One mistake in a configuration. `line` and `column` count from 1, columns in characters; line 0
/// means the whole file. `text` is the line itself; empty where it is longer than 160 bytes.
struct Problem {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;
  std::string text;

  bool operator==(const Problem&) const = default;
};

/// A configuration that cannot be used. what() is the whole message for the user: every problem in
/// the order of its position as `file:line:col: message`, the line and a caret.
struct ConfigError : std::runtime_error {
  /// REQUIRES: at least one problem.
  explicit ConfigError(std::vector<Problem> all);

  std::vector<Problem> problems;
};

/// Bytes of the UTF-8 character (RFC 3629) that begins at `text[0]`; 0: none does. REQUIRES: text
/// is not empty.
size_t utf8_length(std::string_view text);

/// `text` as a terminal may get it, with '?' for every control character but tabs and ends of
/// lines, for what turns round the order of reading, and for every byte that is no UTF-8.
std::string printable(std::string text);

/// The same as one line without tabs.
std::string printable_line(std::string text);

}  // namespace ablate::config
