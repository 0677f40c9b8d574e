#include "experiments/evidence/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "experiments/evidence/figure.h"

namespace ablate::experiments {
namespace {

/// An arm's claim on one test set.
struct Claimed {
  const ArmEvidence* arm;
  const Cell* cell;
};

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

const Cell* same_cell(const ArmEvidence& arm, const Cell& cell) {
  const auto found = std::ranges::find_if(arm.cells, [&](const Cell& other) {
    return other.test_set == cell.test_set && other.metric == cell.metric;
  });
  return found == arm.cells.end() ? nullptr : &*found;
}

std::string with_figure(const Claimed& claimed) {
  return fmt::format("{} ({})", claimed.arm->name,
                     figure(claimed.cell->sample.mean, claimed.cell->metric));
}

std::string enumerated(std::vector<std::string> parts) {
  const auto last = parts.back();
  parts.pop_back();
  return parts.empty() ? last : joined(parts, ", ") + " and " + last;
}

/// "learned (0.000) is worse than", "a (1.0) and b (2.0) are better than".
std::string clause(const std::string& relation, const std::vector<Claimed>& claims) {
  std::vector<std::string> names;
  for (const auto& claim : claims) names.push_back(with_figure(claim));
  return fmt::format("{} {} {}", enumerated(names), claims.size() == 1 ? "is" : "are", relation);
}

/// The claims of one test set.
struct OnTestSet {
  const Cell* baseline;
  std::vector<Claimed> better, worse, alike;
};

OnTestSet claims_on(const TaskEvidence& task, const Cell& reference) {
  OnTestSet claims{&reference, {}, {}, {}};
  for (const auto& arm : task.arms) {
    const auto* cell = same_cell(arm, reference);
    if (cell == nullptr || !cell->contrast) continue;
    const auto verdict = cell->contrast->verdict;
    if (verdict == Verdict::better) claims.better.push_back({&arm, cell});
    if (verdict == Verdict::worse) claims.worse.push_back({&arm, cell});
    if (verdict == Verdict::indistinguishable) claims.alike.push_back({&arm, cell});
  }
  return claims;
}

std::string sentence_on(const OnTestSet& claims, const ArmEvidence& baseline) {
  std::vector<std::string> clauses;
  if (!claims.better.empty()) clauses.push_back(clause("better than", claims.better));
  if (!claims.worse.empty()) clauses.push_back(clause("worse than", claims.worse));
  if (!claims.alike.empty()) clauses.push_back(clause("not distinguishable from", claims.alike));
  return fmt::format("on {}{} {} {}", claims.baseline->test_set,
                     claims.baseline->beyond ? " (beyond the trained length)" : "",
                     joined(clauses, "; "), with_figure({&baseline, claims.baseline}));
}

/// A sentence for the task: its test sets in order, those beyond the trained length where nothing
/// can be told apart together.
std::vector<std::string> of_task(const TaskEvidence& task) {
  const auto baseline = std::ranges::find(task.arms, true, &ArmEvidence::baseline);
  std::vector<std::string> parts, alike;
  if (baseline == task.arms.end()) return parts;
  for (const auto& cell : baseline->cells) {
    if (!cell.primary) continue;
    const auto claims = claims_on(task, cell);
    const bool told_apart = !claims.better.empty() || !claims.worse.empty();
    if (told_apart || (!cell.beyond && !claims.alike.empty()))
      parts.push_back(sentence_on(claims, *baseline));
    else if (!claims.alike.empty())
      alike.push_back(cell.test_set);
  }
  if (!alike.empty())
    parts.push_back(
        fmt::format("beyond the trained length, on {}, no arm is distinguishable from {}",
                    enumerated(alike), baseline->name));
  if (parts.empty()) return parts;
  return {fmt::format("{}, {}: {}.", task.name, spoken(task.metric), joined(parts, "; "))};
}

/// Why nothing is claimed: the first reason that a verdict gives.
std::string no_claim(const Evidence& evidence) {
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells)
        if (cell.primary && cell.contrast) {
          const auto& sentence = cell.contrast->sentence;
          const auto at = sentence.find("no claim: ");
          if (at != std::string::npos) return "No claim: " + sentence.substr(at + 10) + ".";
        }
  return "No claim: there is no finished comparison.";
}

}  // namespace

std::string answer_of(const Evidence& evidence) {
  if (!evidence.baseline) return "No claim: the study declares no baseline.";
  std::vector<std::string> sentences;
  for (const auto& task : evidence.tasks)
    for (auto& sentence : of_task(task)) sentences.push_back(std::move(sentence));
  return sentences.empty() ? no_claim(evidence) : joined(sentences, " ");
}

}  // namespace ablate::experiments
