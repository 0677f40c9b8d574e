#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// What was given: values laid over each other, of which the last one at each path is left. A bare
/// word is laid as the kind of its section. The mark of a section is that of the last key that
/// named it, and the mark of another value is its own.
struct Tree {
  /// Its mark is the place of what was not given. An entry whose value has no mark was not given,
  /// but perhaps meant by an unknown key.
  Value root{.type = Value::Type::mapping};
  /// Paths of values that were given and are ignored, because a later layer chose another kind for
  /// their section, and that kind has no such key -> "training.schedule.kind becomes linear".
  std::map<std::string, std::string> dropped;

  const Entry* find(std::string_view path) const;
  bool has(std::string_view path) const { return find(path) != nullptr; }
  /// False if the value at `path` was reported as a mistake.
  bool readable(std::string_view path) const;
  /// The paths of all values that were reported as mistakes; empty: that of the whole.
  std::vector<std::string> failed() const;
  /// The place of `path`, or else of the nearest section around it.
  Mark place(std::string_view path) const;
};

}  // namespace ablate::config
