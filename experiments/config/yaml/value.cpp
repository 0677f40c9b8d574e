#include "experiments/config/yaml/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>

#include "tokenizer/text/from_chars.h"

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

std::vector<std::pair<std::string, const Entry*>> leaves_of(const Value& mapping) {
  std::vector<std::pair<std::string, const Entry*>> leaves;
  for (const auto& entry : mapping.entries) {
    if (entry.value.entries.empty()) leaves.emplace_back(entry.key, &entry);
    for (const auto& [path, leaf] : leaves_of(entry.value))
      leaves.emplace_back(entry.key + "." + path, leaf);
  }
  return leaves;
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

std::string text_of(const Value& value) {
  std::vector<std::string> parts;
  for (const auto& item : value.items) parts.push_back(text_of(item));
  for (const auto& entry : value.entries) parts.push_back(entry.key + ": " + text_of(entry.value));
  const auto inner = fmt::format("{}", fmt::join(parts, ", "));
  if (value.type == Value::Type::list) return "[" + inner + "]";
  return value.type == Value::Type::mapping ? "{" + inner + "}" : value.scalar;
}

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
        problems_.add(entry.mark, fmt::format("{} is not a key path", in_quotes(entry.key)));
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
    problems.add(key.mark, fmt::format("{} is not a key path", in_quotes(key.key)));
  else
    Placement(repeated, problems).place(mapping, key);
}

namespace {

constexpr size_t kLongestShown = 60;

template <class Number>
struct Reading {
  Number number{};
  bool whole = false;  // all of the text is one number
  bool in_range = false;
};

template <class Number>
Reading<Number> read(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Reading<Number> reading;
  const char* end = text.data() + text.size();
  const auto [stop, error] = tokenizer::from_chars(text, reading.number);
  reading.whole = stop == end && !text.empty() && error != std::errc::invalid_argument;
  reading.in_range = error == std::errc();
  return reading;
}

/// "010" is eight in YAML 1.1 and ten in YAML 1.2.
bool leading_zero(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

std::optional<int64_t> integral(double number) {
  constexpr double kExact = 9'007'199'254'740'992.0;  // 2^53
  if (!(std::abs(number) <= kExact) || std::trunc(number) != number) return {};
  return static_cast<int64_t>(number);
}

/// The integer that "1.0e3", "10k", "1_000" or "1,000" means.
std::optional<int64_t> meant_integer(std::string text) {
  double factor = 1;
  if (text.size() > 1 && (text.back() == 'k' || text.back() == 'K')) factor = 1e3;
  if (text.size() > 1 && (text.back() == 'm' || text.back() == 'M')) factor = 1e6;
  if (factor > 1) text.pop_back();
  std::erase_if(text, [](char character) { return character == '_' || character == ','; });
  const auto reading = read<double>(text);
  if (!reading.whole || !reading.in_range || leading_zero(text)) return {};
  return integral(reading.number * factor);
}

std::string without_leading_zeros(std::string text) {
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  while (leading_zero(text)) text.erase(sign, 1);
  return text;
}

/// The reason that `value` is not a plain word of the wanted kind; empty if it is one.
std::string why_not_plain(const Value& value, const std::string& wanted) {
  if (auto why = not_single(value, wanted); !why.empty()) return why;
  if (!value.quoted) return {};
  return fmt::format("{} is quoted text, not {}", in_quotes(value.scalar), wanted);
}

template <class Number>
Parsed<Number> parse_as(const Value& value, const std::string& wanted, const char* out_of_range) {
  if (auto why = why_not_plain(value, wanted); !why.empty()) return {{}, std::move(why)};
  const auto& text = value.scalar;
  const auto refuse = [&](const std::string& why) {
    return Parsed<Number>{{}, fmt::format("{} {}", in_quotes(text), why)};
  };
  const auto reading = read<Number>(text);
  if (reading.whole && leading_zero(text))
    return refuse("has leading zeros; write " + without_leading_zeros(text));
  if (reading.whole && !reading.in_range) return refuse(out_of_range);
  const bool named = std::is_same_v<Number, double> &&
                     (text == ".nan" || text == ".NaN" || text == ".inf" || text == "-.inf");
  if (named || (reading.whole && !std::isfinite(static_cast<double>(reading.number))))
    return refuse("is not finite");
  if (reading.whole) return {reading.number, {}};
  const auto meant = meant_integer(text);
  return refuse(fmt::format("is not {}{}", wanted, meant ? fmt::format("; write {}", *meant) : ""));
}

}  // namespace

std::string in_quotes(const std::string& text) {
  if (text.size() <= kLongestShown) return fmt::format("'{}'", text);
  size_t end = kLongestShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("'{}...'", text.substr(0, end));
}

std::string not_single(const Value& value, const std::string& wanted) {
  if (value.type == Value::Type::scalar) return {};
  if (value.type == Value::Type::empty) return fmt::format("is empty; give {}", wanted);
  return fmt::format("must be {}, not {}", wanted, type_name(value.type));
}

Parsed<bool> parse_boolean(const Value& value) {
  static const std::map<std::string, bool, std::less<>> kMeant = {
      {"yes", true}, {"on", true},   {"True", true},   {"TRUE", true},
      {"no", false}, {"off", false}, {"False", false}, {"FALSE", false}};
  if (auto why = why_not_plain(value, "true or false"); !why.empty()) return {{}, std::move(why)};
  if (value.scalar == "true" || value.scalar == "false") return {value.scalar == "true", {}};
  const auto meant = kMeant.find(value.scalar);
  return {{},
          fmt::format("{} is not true or false{}", in_quotes(value.scalar),
                      meant == kMeant.end() ? "" : fmt::format("; write {}", meant->second))};
}

Parsed<int64_t> parse_integer(const Value& value) {
  return parse_as<int64_t>(value, "an integer", "is too large for an integer");
}

std::vector<int64_t> meant_range(const std::string& text) {
  constexpr int64_t kMost = 100;
  const auto dots = text.find("..");
  const auto between = dots == text.npos ? text.find('-', 1) : dots;
  if (between == text.npos) return {};
  const auto integer = [](const std::string& part) {
    return parse_integer({.type = Value::Type::scalar, .scalar = part}).value;
  };
  const auto first = integer(text.substr(0, between));
  const auto last = integer(text.substr(between + (dots == text.npos ? 1 : 2)));
  if (!first || !last || *first < 0 || *last <= *first || *last - *first >= kMost) return {};
  std::vector<int64_t> all;
  for (int64_t number = *first; number <= *last; ++number) all.push_back(number);
  return all;
}

Parsed<double> parse_number(const Value& value) {
  return parse_as<double>(value, "a number", "is out of the range of numbers");
}

std::optional<double> spelled_number(const std::string& text) {
  return parse_number({.type = Value::Type::scalar, .scalar = text}).value;
}

Parsed<std::string> parse_text(const Value& value) {
  if (auto why = not_single(value, "text"); !why.empty()) return {{}, std::move(why)};
  if (value.scalar.find('\0') != std::string::npos) return {{}, "contains a NUL character"};
  return {value.scalar, {}};
}

}  // namespace ablate::config
