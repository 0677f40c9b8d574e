#include "experiments/config/renamed_key.h"

#include <algorithm>

#include "experiments/config/option.h"

namespace ablate::config {
namespace {

/// `path` under its present name.
std::string named_now(const std::string& path) {
  auto now = current_name(path);
  return now.empty() ? path : now;
}

bool was_single(const std::string& key) {
  return std::ranges::any_of(kUnfoldedValues, [&](const auto& one) { return one.key == key; });
}

/// A single value, or none, as the section that its key is now.
void unfold(Value& value, const std::string& key) {
  if (value.type != Value::Type::scalar && value.type != Value::Type::empty) return;
  Value section{.type = Value::Type::mapping, .mark = value.mark};
  const auto now = unfolded(key, value.scalar);
  if (const auto equals = now.find('='); equals != now.npos) {
    auto below = value;
    below.scalar = now.substr(equals + 1);
    section.entries.push_back({std::string(now.substr(0, equals)), value.mark, below});
  }
  value = std::move(section);
}

void use_current_names_below(Value& section, const std::string& path) {
  for (auto& [key, mark, value] : section.entries) {
    const auto whole = named_now(join_path(path, key));
    key = last_key(whole);
    if (was_single(whole)) unfold(value, whole);
    if (const auto now = current_value(whole, value.scalar); !now.empty()) value.scalar = now;
    use_current_names_below(value, whole);
  }
}

}  // namespace

std::string current_name(std::string_view path) {
  for (const auto& [before, now] : kRenamedKeys) {
    if (!path.starts_with(before)) continue;
    const auto below = path.substr(before.size());
    if (below.empty() || below.front() == '.') return std::string(now).append(below);
  }
  return {};
}

std::string_view current_value(std::string_view key, std::string_view value) {
  for (const auto& renamed : kRenamedValues)
    if (renamed.key == key && renamed.before == value) return renamed.now;
  return {};
}

std::string_view unfolded(std::string_view key, std::string_view value) {
  for (const auto& one : kUnfoldedValues)
    if (one.key == key && one.before == value) return one.now;
  return {};
}

void use_current_names(Value& configuration) { use_current_names_below(configuration, ""); }

std::string with_current_names(const std::string& set) {
  const auto equals = std::min(set.find('='), set.size());
  const auto key = named_now(set.substr(0, equals));
  const auto value = std::string_view(set).substr(std::min(equals + 1, set.size()));
  if (const auto below = unfolded(key, value); !below.empty())
    return join_path(key, std::string(below));
  const auto now = current_value(key, value);
  return now.empty() ? key + set.substr(equals) : key + "=" + std::string(now);
}

}  // namespace ablate::config
