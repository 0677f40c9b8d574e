#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/study/problem.h"

namespace ablate::experiments {

struct Entry;

/// A YAML value that knows where it stands. Keys keep their order; a map has each key once.
struct Value {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  Place place;
  std::string scalar;
  bool quoted = false;
  std::vector<Value> items;
  std::vector<Entry> entries;

  /// The value of `key`, or null where there is none.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
};

struct Entry {
  std::string key;
  Place place;  // of the key
  Value value;
};

/// Reads one YAML document: at most 1 MiB, 64 levels and 20,000 values; UTF-8; no duplicate keys,
/// aliases, custom tags or second document. Throws ConfigError.
Value read_document(const std::filesystem::path& file);

/// The same for a text, under a name of its own.
Value read_document(const std::string& name, const std::string& text);

}  // namespace ablate::experiments
