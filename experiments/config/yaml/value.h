#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/config/yaml/problem.h"

namespace ablate::config {

/// The text a configuration was read from.
struct Source {
  Source(std::string source_name, std::string source_text);

  std::string name;
  std::string text;
  std::vector<std::string> lines;  // without line ends
};

/// A position in a source; `line` and `column` count from 0, columns in bytes.
struct Mark {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;

  bool operator==(const Mark&) const = default;
};

struct Entry;

/// A parsed YAML value with its position. Aliases are already replaced by their targets.
struct Value {
  enum class Type { empty, scalar, list, mapping };

  Type type = Type::empty;
  std::string scalar;
  bool quoted = false;
  std::vector<Value> items;
  std::vector<Entry> entries;  // in the file's order, keys distinct
  Mark mark;
  bool failed = false;   // laid over others: it could not be read, which is reported
  bool renewed = false;  // laid over others: a section that has got another kind

  const Entry* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Mark mark;
  Value value;
};

/// The path and the entry of each value below a mapping that is no section with keys.
std::vector<std::pair<std::string, const Entry*>> leaves_of(const Value& mapping);

/// "a list", "a mapping", ...
std::string_view type_name(Value::Type type);

/// The value in one line: "1.0e-3", "[1, 2]", "{kind: learned}".
std::string text_of(const Value& value);

/// The problem `message` at `mark`, with the text of its line.
Problem problem_at(const Mark& mark, std::string message);

/// Collects problems, so that they are reported together.
class ProblemList {
 public:
  void add(const Mark& mark, std::string message);
  void add(Problem problem) { problems_.push_back(std::move(problem)); }
  bool empty() const { return problems_.empty(); }
  const std::vector<Problem>& all() const { return problems_; }
  /// Throws ConfigError if there is any problem.
  void raise() const;

 private:
  std::vector<Problem> problems_;
};

/// What happens if two keys name the same path.
enum class Repeated { problem, last_wins };

/// `mapping` with dotted keys ("model.position.kind: learned") as nested mappings, at every level.
Value nested(const Value& mapping, ProblemList& problems);

/// Puts `value` at the dotted path that `key` spells out, starting in `mapping`.
void put(Value& mapping, const Entry& key, Repeated repeated, ProblemList& problems);

/// A value, or the reason why the text is not valid, phrased to follow the option's path.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string why;
};

/// Strict parsers of a single value: the whole text must match, and quoted text is never a number.
/// Empty and nested values are refused.
Parsed<bool> parse_boolean(const Value& value);
Parsed<int64_t> parse_integer(const Value& value);
Parsed<double> parse_number(const Value& value);
Parsed<std::string> parse_text(const Value& value);

/// The number that a text spells; absent if the text is not a number.
std::optional<double> spelled_number(const std::string& text);

/// The numbers of a range such as "1-3" or "1..3"; empty if `text` is not a range of at most a
/// hundred numbers.
std::vector<int64_t> meant_range(const std::string& text);

/// Why `value` is not the single value `wanted` ("an integer"); empty if it is.
std::string not_single(const Value& value, const std::string& wanted);

/// `text` in single quotes, shortened if it is long.
std::string in_quotes(const std::string& text);

}  // namespace ablate::config
