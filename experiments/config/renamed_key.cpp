#include "experiments/config/renamed_key.h"

namespace ablate::experiments {

std::string current_name(std::string_view path) {
  for (const auto& [before, now] : kRenamedKeys) {
    if (!path.starts_with(before)) continue;
    const auto below = path.substr(before.size());
    if (below.empty() || below.front() == '.') return std::string(now).append(below);
  }
  return {};
}

}  // namespace ablate::experiments
