#include "experiments/config/renamed_key.h"

#include "experiments/config/option.h"

namespace ablate::config {
namespace {

/// `path` under its present name.
std::string named_now(const std::string& path) {
  auto now = current_name(path);
  return now.empty() ? path : now;
}

void use_current_names_below(Value& section, const std::string& path) {
  for (auto& [key, mark, value] : section.entries) {
    const auto whole = named_now(join_path(path, key));
    key = last_key(whole);
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

void use_current_names(Value& configuration) { use_current_names_below(configuration, ""); }

std::string with_current_names(const std::string& set) {
  const auto equals = std::min(set.find('='), set.size());
  const auto key = named_now(set.substr(0, equals));
  const auto now =
      current_value(key, std::string_view(set).substr(std::min(equals + 1, set.size())));
  return now.empty() ? key + set.substr(equals) : key + "=" + std::string(now);
}

}  // namespace ablate::config
