#include "experiments/config/rules.h"

#include <algorithm>

namespace ablate::config {

bool follows_from_failure(const BrokenRule& rule, const Trail& trail) {
  const auto path = join_path(rule.section, rule.key);
  return std::ranges::any_of(trail.failed, [&](const std::string& failed) {
    const bool inside = path == failed || path.starts_with(failed + ".");
    const bool mentioned = failed.starts_with(rule.section + ".") &&
                           rule.why.find(last_key(failed)) != std::string::npos;
    return inside || mentioned || failed.empty();
  });
}

}  // namespace ablate::config
