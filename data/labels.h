#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus.h"

namespace ablate::data {

/// The classes of a model with a label head, numbered from 0. A name is no text that a tokenizer
/// reads: it may be any but an empty one, and is itself alone.
class Labels {
 public:
  /// Those that are targets of `examples`, in the order of their bytes.
  explicit Labels(std::span<const Example> examples);
  /// Reads the output of to_text(), also with CRLF. Throws DataError if a name is empty or
  /// repeated.
  static Labels from_text(std::string_view text);

  /// The names, one a line.
  std::string to_text() const;
  int64_t count() const { return std::ssize(names_); }
  /// REQUIRES: 0 <= number < count().
  const std::string& name(int64_t number) const { return names_[static_cast<size_t>(number)]; }
  /// Throws DataError where no class has that name.
  int32_t number(std::string_view name) const;

  bool operator==(const Labels& other) const = default;

 private:
  Labels() = default;
  void add(std::string name);

  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> numbers_;
};

}  // namespace ablate::data
