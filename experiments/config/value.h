#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::config {

/// The text a configuration was read from.
struct Source {
  Source(std::string source_name, std::string source_text);

  std::string name;
  std::string text;
  std::vector<std::string> lines;  // without line ends
};

/// A place in a source; `line` and `column` count from 0, columns in bytes.
struct Mark {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;
};

struct Entry;

/// A parsed YAML value that knows where it stands. Aliases are already replaced.
struct Value {
  enum class Type { empty, scalar, list, mapping };

  Type type = Type::empty;
  std::string scalar;
  bool quoted = false;
  std::vector<Value> items;
  std::vector<Entry> entries;  // in the file's order, keys distinct
  Mark mark;

  const Entry* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Mark mark;
  Value value;
};

/// "a list", "a mapping", ...
std::string_view type_name(Value::Type type);

}  // namespace ablate::config
