#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/reader.h"

namespace ablate::config {

/// A broken rule of the struct at `section`.
struct BrokenRule {
  std::string section;
  std::string key;  // below the section
  std::string why;
  bool operator==(const BrokenRule&) const = default;
};

/// Every broken rule of `options` and of the structs in it.
template <OptionStruct Options>
void collect_broken_rules(const Options& options, const std::string& path,
                          std::vector<BrokenRule>& broken) {
  Options::rules(options, [&](bool holds, std::string_view key, std::string_view why) {
    BrokenRule rule{path, std::string(key), std::string(why)};
    // Encoder and decoder may break the same rule of a shared option.
    if (!holds && std::ranges::find(broken, rule) == broken.end())
      broken.push_back(std::move(rule));
  });
  Options::fields(options, [&](std::string_view name, const auto& slot, std::string_view) {
    using Slot = std::remove_cvref_t<decltype(slot)>;
    const auto below = join_path(path, name);
    if constexpr (std::is_same_v<Slot, models::SideLayers>)
      for (size_t i = 0; i < slot.size(); ++i)
        collect_broken_rules(slot[i], join_path(below, std::to_string(i + 1)), broken);
    else if constexpr (is_variant<Slot>)
      std::visit([&](const auto& held) { collect_broken_rules(held, below, broken); }, slot);
    else if constexpr (OptionStruct<Slot>)
      collect_broken_rules(slot, below, broken);
  });
}

/// A broken rule as it is reported.
struct RuleProblem {
  Mark mark;
  std::string message;
};

/// The broken rules, without those that follow from an unreadable value. A rule that several layers
/// break because of the same value is one problem, which names the layers.
std::vector<RuleProblem> rule_problems(const models::TransformerOptions& model,
                                       const std::vector<BrokenRule>& broken, const Trail& trail);

/// Whether the rule may be broken only because a value that it names could not be read.
bool follows_from_failure(const BrokenRule& rule, const Trail& trail);

}  // namespace ablate::config
