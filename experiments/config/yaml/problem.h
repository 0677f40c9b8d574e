#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace ablate::config {

/// One mistake in a configuration. `line` and `column` count from 1, columns in characters; line 0
/// means the whole file. `text` is the line itself; empty if it is longer than 160 bytes.
struct Problem {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;
  std::string text;
  bool of_data = false;  // a file of data, tokenizer or word vectors cannot be used

  bool operator==(const Problem&) const = default;
};

/// An invalid configuration. what() is the message for the user: every problem, ordered by
/// position, as `file:line:col: message`, the line and a caret.
struct ConfigError : std::runtime_error {
  /// REQUIRES: at least one problem.
  explicit ConfigError(std::vector<Problem> all);

  std::vector<Problem> problems;
};

/// `text` made safe for a terminal: '?' replaces control characters except tabs and line ends,
/// changes of the reading direction, and bytes that are not UTF-8.
std::string printable(std::string text);

/// The same, with tabs and line ends replaced, too.
std::string printable_line(std::string text);

}  // namespace ablate::config
