#include "experiments/analysis/statement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/figure.h"

namespace ablate::analysis {
namespace {

/// "A gated one is better." (Shazeer 2020), or one of both.
std::string statement_of(const config::ArmClaim& claim) {
  if (claim.says.empty()) return claim.source;
  return fmt::format("\"{}\"{}", claim.says, claim.source.empty() ? "" : " (" + claim.source + ")");
}

/// "agrees (copy, length 12)"
std::string outcome_on(const Compared& one) {
  return fmt::format("{}{} ({}{}{})", claim_words(one.contrast()),
                     one.contrast().outside.empty() ? "" : ", outside the source's regime",
                     one.task.name, one.cell.test_set.empty() ? "" : ", ", one.cell.test_set);
}

}  // namespace

std::vector<std::string> statement_notes(const Evidence& evidence) {
  std::map<std::string, std::vector<std::string>> outcomes;  // "a: statement" -> outcomes
  for (const auto& one : compared_in(evidence.tasks)) {
    if (!one.contrast().outcome) continue;
    if (const auto statement = statement_of(one.contrast().claim); !statement.empty())
      outcomes[one.arm.name + ": " + statement].push_back(outcome_on(one));
  }
  std::vector<std::string> notes;
  for (const auto& [statement, found] : outcomes)
    notes.push_back(fmt::format("Claim on {}: {}.", statement, fmt::join(found, "; ")));
  return notes;
}

}  // namespace ablate::analysis
