#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::experiments {

/// A file (or one --set) whose lines error messages show.
struct SourceText {
  std::string name;
  std::vector<std::string> lines;
};

/// Where something stands; line and column count from 1.
struct Place {
  std::shared_ptr<const SourceText> source;
  int line = 1;
  int column = 1;
};

struct Problem {
  std::string file;
  int line = 1;
  int column = 1;
  std::string message;
  std::string text;  // the line it stands in
};

/// Everything wrong with a configuration. what() lists all problems in order of position, each as
/// `file:line:column: message`, its line and a caret.
struct ConfigError : std::runtime_error {
  explicit ConfigError(std::vector<Problem> all);
  std::vector<Problem> problems;
};

/// Collects problems, each once.
class Problems {
 public:
  void add(const Place& place, std::string message);
  /// Throws ConfigError where there is any problem.
  void check() const;

 private:
  std::vector<Problem> all_;
};

/// "; did you mean 'x'?" for the nearest of `known`, or "" where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace ablate::experiments
