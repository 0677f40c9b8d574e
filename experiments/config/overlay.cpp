#include "experiments/config/overlay.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/scalar.h"

namespace ablate::config {
namespace {

constexpr auto kMostDots = 32;

bool well_formed(const std::string& path) {
  return !path.empty() && path.front() != '.' && path.back() != '.' &&
         path.find("..") == std::string::npos && std::ranges::count(path, '.') <= kMostDots;
}

Entry* find(Value& mapping, const std::string& key) {
  const auto found = std::ranges::find(mapping.entries, key, &Entry::key);
  return found == mapping.entries.end() ? nullptr : &*found;
}

class Placement {
 public:
  Placement(Repeated repeated, ProblemList& problems) : repeated_(repeated), problems_(problems) {}

  void place(Value& mapping, Entry entry) {
    const auto dot = entry.key.find('.');
    if (dot != std::string::npos) entry = wrapped(std::move(entry), dot);
    Entry* present = find(mapping, entry.key);
    if (present == nullptr) {
      const bool leaf = entry.value.type != Value::Type::mapping;
      mapping.entries.push_back(leaf ? entry : Entry{entry.key, entry.mark, bare(entry.value)});
      if (!leaf) descend(mapping.entries.back().value, std::move(entry.value));
    } else if (present->value.type == Value::Type::mapping &&
               entry.value.type == Value::Type::mapping) {
      if (repeated_ == Repeated::last_wins) present->mark = entry.mark;
      descend(present->value, std::move(entry.value));
    } else if (repeated_ == Repeated::last_wins) {
      *present = std::move(entry);
    } else {
      problems_.add(entry.mark, fmt::format("duplicate key {}; first given in line {}",
                                            in_quotes(entry.key), present->mark.line + 1));
    }
  }

 private:
  /// `a.b: v` as `a: {b: v}`.
  static Entry wrapped(Entry entry, size_t dot) {
    Mark inner = entry.mark;
    inner.column += static_cast<int>(dot) + 1;
    Value section{.type = Value::Type::mapping, .mark = entry.mark};
    section.entries.push_back({entry.key.substr(dot + 1), inner, std::move(entry.value)});
    return {entry.key.substr(0, dot), entry.mark, std::move(section)};
  }

  static Value bare(const Value& mapping) {
    return {.type = Value::Type::mapping, .mark = mapping.mark};
  }

  void descend(Value& into, Value from) {
    for (auto& entry : from.entries) {
      if (well_formed(entry.key))
        place(into, std::move(entry));
      else
        problems_.add(entry.mark, fmt::format("{} is no key path", in_quotes(entry.key)));
    }
  }

  Repeated repeated_;
  ProblemList& problems_;
};

}  // namespace

Value nested(const Value& mapping, ProblemList& problems) {
  if (mapping.type != Value::Type::mapping) return mapping;
  Value result{.type = Value::Type::mapping, .mark = mapping.mark};
  for (const auto& entry : mapping.entries) put(result, entry, Repeated::problem, problems);
  return result;
}

void put(Value& mapping, const Entry& key, Repeated repeated, ProblemList& problems) {
  if (!well_formed(key.key))
    problems.add(key.mark, fmt::format("{} is no key path", in_quotes(key.key)));
  else
    Placement(repeated, problems).place(mapping, key);
}

}  // namespace ablate::config
