#pragma once

#include <stdexcept>
#include <string>
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

}  // namespace ablate::config
