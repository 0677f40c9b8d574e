#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/value.h"

namespace ablate::config {

/// A value, or why the text is none: the end of a sentence that begins with the option's path.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string why;
};

/// The strict readings of a single value: the whole text counts, quoted text is never a number, and
/// nothing is guessed. An empty or nested value is refused, too.
Parsed<bool> parse_boolean(const Value& value);
Parsed<int64_t> parse_integer(const Value& value);
Parsed<double> parse_number(const Value& value);
Parsed<std::string> parse_text(const Value& value);

/// The numbers that "1-3" or "1..3" means, from the first to the last; none where it means no range
/// of at most a hundred.
std::vector<int64_t> meant_range(const std::string& text);

/// Why `value` is not the single value `wanted` ("an integer"); empty where it is one.
std::string not_single(const Value& value, const std::string& wanted);

/// `text` in single quotes, shortened where it is long.
std::string in_quotes(const std::string& text);

}  // namespace ablate::config
