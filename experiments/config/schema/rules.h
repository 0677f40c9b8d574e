#pragma once

#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/tree.h"

namespace ablate::config {

/// A broken rule of the struct at `section`.
struct BrokenRule {
  std::string section;
  std::string key;  // below the section
  std::string why;
  bool operator==(const BrokenRule&) const = default;
};

/// Adds every broken rule of `options` and of the structs in it; first the numbers out of bounds.
void collect_broken_rules(const options::ConstSlot& options, const std::string& path,
                          std::vector<BrokenRule>& broken);

/// A broken rule as it is reported.
struct RuleProblem {
  Mark mark;
  std::string message;
};

/// The broken rules, without those that follow from an unreadable value. A rule that several layers
/// break because of the same value is one problem, which names the layers.
std::vector<RuleProblem> rule_problems(const models::TransformerOptions& model,
                                       const std::vector<BrokenRule>& broken, const Tree& tree);

/// Whether the rule may be broken only because a value that it names could not be read.
bool follows_from_failure(const BrokenRule& rule, const Tree& tree);

}  // namespace ablate::config
