#include "experiments/evidence/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
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

/// "learned (0.000) is worse than", "a (1.0) and b (2.0) are not distinguishable from".
std::string clause(Verdict verdict, const std::vector<Claimed>& claims) {
  std::vector<std::string> names;
  for (const auto& claim : claims) names.push_back(with_figure(claim));
  const std::string last = names.back();
  names.pop_back();
  const auto subject = names.empty() ? last : joined(names, ", ") + " and " + last;
  const auto* words = verdict == Verdict::better  ? "better than"
                      : verdict == Verdict::worse ? "worse than"
                                                  : "not distinguishable from";
  return fmt::format("{} {} {}", subject, claims.size() == 1 ? "is" : "are", words);
}

/// One test set's sentence: which arms are better, worse, not distinguishable; empty where no claim
/// can be made.
std::string on_test_set(const TaskEvidence& task, const ArmEvidence& baseline,
                        const Cell& reference) {
  std::map<Verdict, std::vector<Claimed>> claims;
  for (const auto& arm : task.arms)
    if (const auto* cell = same_cell(arm, reference); cell != nullptr && cell->contrast)
      claims[cell->contrast->verdict].push_back({&arm, cell});
  std::vector<std::string> clauses;
  for (const auto verdict : {Verdict::better, Verdict::worse, Verdict::indistinguishable})
    if (const auto found = claims.find(verdict); found != claims.end())
      clauses.push_back(clause(verdict, found->second));
  if (clauses.empty()) return "";
  return fmt::format("{}, {} on {}: {} {}.", task.name, spoken(reference.metric),
                     reference.test_set, joined(clauses, "; "),
                     with_figure({&baseline, &reference}));
}

std::vector<std::string> of_task(const TaskEvidence& task) {
  const auto baseline = std::ranges::find(task.arms, true, &ArmEvidence::baseline);
  std::vector<std::string> sentences;
  if (baseline == task.arms.end()) return sentences;
  for (const auto& cell : baseline->cells) {
    if (!cell.primary) continue;
    if (auto sentence = on_test_set(task, *baseline, cell); !sentence.empty())
      sentences.push_back(std::move(sentence));
  }
  return sentences;
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
