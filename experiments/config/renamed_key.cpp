#include "experiments/config/renamed_key.h"

#include "experiments/config/option.h"

namespace ablate::experiments {
namespace {

void use_current_names_below(Value& section, const std::string& path) {
  for (auto& entry : section.entries) {
    auto whole = join_path(path, entry.key);
    if (auto now = current_name(whole); !now.empty()) {
      whole = std::move(now);
      entry.key = path.empty() ? whole : whole.substr(path.size() + 1);
    }
    use_current_names_below(entry.value, whole);
  }
}

}  // namespace

void use_current_names(Value& configuration) { use_current_names_below(configuration, ""); }

std::string current_name(std::string_view path) {
  for (const auto& [before, now] : kRenamedKeys) {
    if (!path.starts_with(before)) continue;
    const auto below = path.substr(before.size());
    if (below.empty() || below.front() == '.') return std::string(now).append(below);
  }
  return {};
}

}  // namespace ablate::experiments
