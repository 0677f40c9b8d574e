#include "experiments/study/reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ablate::experiments {
namespace {

/// Parses the whole of `text`, or says no.
template <class Number>
bool parse_number(std::string_view text, Number& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end && !text.empty();
}

/// "010" would be eight to some readers and ten to others.
bool octal_looking(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text.size() > 1 && text[0] == '0' &&
         std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; });
}

}  // namespace

std::string Reader::below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

std::string Reader::last_word(const std::string& path) {
  return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

bool Reader::expect_map(const Value& value, const std::string& path) {
  if (value.kind == Value::Kind::map) return true;
  problems_.add(value.place, fmt::format("{} must be a mapping of keys to values",
                                         path.empty() ? "the configuration" : last_word(path)));
  return false;
}

bool Reader::expect_list(const Value& value, const std::string& path) {
  if (value.kind == Value::Kind::list) return true;
  problems_.add(value.place, fmt::format("{} must be a list such as [1, 2]", last_word(path)));
  return false;
}

bool Reader::expect_scalar(const Value& value, const std::string& path) {
  if (value.kind == Value::Kind::scalar) return true;
  problems_.add(value.place, fmt::format("{} must be a single value", last_word(path)));
  return false;
}

void Reader::note(const Value& value, const std::string& path) {
  const auto& name = value.place.source->name;
  origins_[path] = name == "--set" ? name : fmt::format("{}:{}", name, value.place.line);
}

void Reader::parse(const Value& value, const std::string& path, bool& slot) {
  if (!expect_scalar(value, path)) return;
  if (value.quoted || (value.scalar != "true" && value.scalar != "false"))
    return problems_.add(
        value.place, fmt::format("{} '{}' is not true or false", last_word(path), value.scalar));
  slot = value.scalar == "true";
  note(value, path);
}

void Reader::parse(const Value& value, const std::string& path, int64_t& slot) {
  if (!expect_scalar(value, path)) return;
  if (value.quoted || octal_looking(value.scalar) || !parse_number(value.scalar, slot)) {
    double number = 0;
    const bool whole = parse_number(value.scalar, number) && std::floor(number) == number &&
                       std::abs(number) < 1e15;
    const auto hint = whole && !value.quoted
                          ? fmt::format("; write {}", static_cast<int64_t>(number))
                          : std::string();
    return problems_.add(value.place, fmt::format("{} '{}' is not an integer{}", last_word(path),
                                                  value.scalar, hint));
  }
  note(value, path);
}

void Reader::parse(const Value& value, const std::string& path, double& slot) {
  if (!expect_scalar(value, path)) return;
  double number = 0;
  if (value.quoted || octal_looking(value.scalar) || !parse_number(value.scalar, number) ||
      !std::isfinite(number))
    return problems_.add(
        value.place, fmt::format("{} '{}' is not a finite number", last_word(path), value.scalar));
  slot = number;
  note(value, path);
}

void Reader::parse(const Value& value, const std::string& path, std::string& slot) {
  if (!expect_scalar(value, path)) return;
  slot = value.scalar;
  note(value, path);
}

void Reader::report_unknown(const Value& map, const std::string& path,
                            const std::vector<std::string>& known) {
  for (const auto& entry : map.entries) {
    if (std::ranges::find(known, entry.key) != known.end()) continue;
    auto hint = did_you_mean(entry.key, known);
    if (hint.empty()) {
      const auto other = std::ranges::find_if(
          all_paths_, [&](const std::string& one) { return last_word(one) == entry.key; });
      if (other != all_paths_.end()) hint = fmt::format("; did you mean '{}'?", *other);
    }
    problems_.add(entry.place, fmt::format("unknown key '{}'{}{}", entry.key,
                                           path.empty() ? "" : " in " + path, hint));
  }
}

void Reader::report_choice(const Value& value, const std::string& path,
                           const std::vector<std::string>& known) {
  auto hint = did_you_mean(value.scalar, known);
  if (hint.empty()) hint = fmt::format("; use one of {}", fmt::join(known, ", "));
  problems_.add(value.place, fmt::format("unknown {} '{}'{}", path, value.scalar, hint));
}

Place Reader::place_of(const Value& map, std::string_view dotted) {
  const auto dot = dotted.find('.');
  for (const auto& entry : map.entries) {
    if (entry.key != dotted.substr(0, dot)) continue;
    if (dot == std::string_view::npos || entry.value.kind != Value::Kind::map)
      return entry.value.place;
    return place_of(entry.value, dotted.substr(dot + 1));
  }
  return map.place;
}

}  // namespace ablate::experiments
