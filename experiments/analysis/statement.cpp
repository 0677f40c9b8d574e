#include "experiments/analysis/statement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "experiments/analysis/figure.h"

namespace ablate::analysis {
namespace {

/// "A gated one is better." (Shazeer 2020), or one of both.
std::string statement_of(const config::ArmClaim& claim) {
  if (claim.says.empty()) return claim.source;
  return fmt::format("\"{}\"{}", claim.says, claim.source.empty() ? "" : " (" + claim.source + ")");
}

/// "agrees (copy, length 12)"
std::string outcome_on(const TaskEvidence& task, const Cell& cell) {
  return fmt::format("{}{} ({}{}{})", claim_words(*cell.contrast),
                     cell.contrast->outside.empty() ? "" : ", outside the source's regime",
                     task.name, cell.test_set.empty() ? "" : ", ", cell.test_set);
}

}  // namespace

std::vector<std::string> statement_notes(const Evidence& evidence) {
  std::map<std::string, std::vector<std::string>> outcomes;  // "a: statement" -> outcomes
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells) {
        if (!cell.contrast || !cell.contrast->outcome) continue;
        if (const auto statement = statement_of(cell.contrast->claim); !statement.empty())
          outcomes[arm.name + ": " + statement].push_back(outcome_on(task, cell));
      }
  std::vector<std::string> notes;
  for (const auto& [statement, found] : outcomes)
    notes.push_back(fmt::format("Claim on {}: {}.", statement, fmt::join(found, "; ")));
  return notes;
}

}  // namespace ablate::analysis
