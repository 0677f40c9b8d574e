#include "experiments/config/foreign_word.h"

#include <fmt/format.h>

namespace ablate::config {

std::string hint_for_foreign_key(std::string_view key) {
  for (const auto& [theirs, ours, remark] : kForeignKeys)
    if (theirs == key)
      return fmt::format("; here it is {}{}", ours,
                         remark.empty() ? "" : fmt::format(": {}", remark));
  return {};
}

std::string hint_for_foreign_value(std::string_view path, std::string_view value) {
  for (const auto& foreign : kForeignValues)
    if (foreign.path == path && foreign.value == value)
      return fmt::format("; write {}", foreign.ours);
  return {};
}

}  // namespace ablate::config
