#include "experiments/config/value.h"

#include <algorithm>
#include <utility>

namespace ablate::config {

Source::Source(std::string source_name, std::string source_text)
    : name(std::move(source_name)), text(std::move(source_text)) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    begin = end + 1;
  }
}

const Entry* Value::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

std::string_view type_name(Value::Type type) {
  switch (type) {
    case Value::Type::empty:
      return "empty";
    case Value::Type::scalar:
      return "a single value";
    case Value::Type::list:
      return "a list";
    case Value::Type::mapping:
      return "a mapping";
  }
  return "";
}

}  // namespace ablate::config
