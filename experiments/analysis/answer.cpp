#include "experiments/analysis/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "experiments/analysis/figure.h"
#include "experiments/errors.h"

namespace ablate::analysis {
namespace {

const Cell* cell_of_term(const ArmEvidence& arm, const config::Term& term) {
  const auto found = std::ranges::find_if(arm.cells, [&](const Cell& cell) {
    return cell.metric == term.metric && (term.test_set.empty() || cell.test_set == term.test_set);
  });
  return found == arm.cells.end() ? nullptr : &*found;
}

/// A side of the claim: its value and its text.
struct Side {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string text;
};

Side side_of(const config::Term& term, const TaskEvidence& task) {
  if (!term.arm) return {term.factor, fmt::format("{}", term.factor)};
  const auto name = term.arm->name();
  const auto arm = std::ranges::find(task.arms, name, &ArmEvidence::name);
  const auto* cell = arm == task.arms.end() ? nullptr : cell_of_term(*arm, term);
  if (cell == nullptr || cell->sample.count == 0)
    return {.text = fmt::format("{}.{}{} is missing", name, term.metric,
                                term.test_set.empty() ? "" : "[" + term.test_set + "]")};
  if (is_censored(cell->sample))
    return {.text = fmt::format("{}.{} is {}: a run has not reached the target", name, term.metric,
                                mean_figure(cell->sample, term.metric))};
  const double mean = cell->sample.mean;
  if (term.factor == 1) return {mean, format_metric(mean, term.metric)};
  return {term.factor * mean,
          fmt::format("{} * {} = {}", term.factor, format_metric(mean, term.metric),
                      format_metric(term.factor * mean, term.metric))};
}

bool holds(const config::Clause& clause, double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return false;
  switch (clause.relation) {
    case config::Relation::less:
      return config::is_above(right, left);
    case config::Relation::at_most:
      return !config::is_above(left, right);
    case config::Relation::greater:
      return config::is_above(left, right);
    case config::Relation::at_least:
      return !config::is_above(right, left);
    case config::Relation::within:
      return !config::is_above(std::abs(left - right), clause.tolerance);
  }
  return false;
}

std::string clause_words(const config::Clause& clause) {
  switch (clause.relation) {
    case config::Relation::less:
      return "<";
    case config::Relation::at_most:
      return "<=";
    case config::Relation::greater:
      return ">";
    case config::Relation::at_least:
      return ">=";
    case config::Relation::within:
      return fmt::format("within {} of", clause.tolerance);
  }
  return "";
}

}  // namespace

Expectation check_clause(const config::Clause& clause, const Evidence& evidence) {
  Expectation expectation{.text = clause.text};
  const auto task = std::ranges::find(evidence.tasks, clause.task, &TaskEvidence::name);
  if (task == evidence.tasks.end()) return expectation;
  const auto left = side_of(clause.left, *task), right = side_of(clause.right, *task);
  expectation.holds = holds(clause, left.value, right.value);
  if (std::isnan(left.value) || std::isnan(right.value))
    expectation.numbers = std::isnan(left.value) ? left.text : right.text;
  else
    expectation.numbers = fmt::format("{} {} {}", left.text, clause_words(clause), right.text);
  return expectation;
}

void raise_failed(const std::vector<Expectation>& expectations) {
  std::string failed;
  for (const auto& expectation : expectations)
    if (!expectation.holds)
      failed += fmt::format("\n  {}: {}", expectation.text, expectation.numbers);
  if (!failed.empty()) throw ExpectationFailed("expectations of the study do not hold:" + failed);
}

namespace {

/// An arm's cell on one test set.
struct Claimed {
  const ArmEvidence* arm;
  const Cell* cell;
};

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string with_figure(const Claimed& claimed) {
  return fmt::format("{} ({})", claimed.arm->name,
                     format_metric(claimed.cell->sample.mean, claimed.cell->metric));
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
  std::vector<Claimed> better, worse, equivalent, undecided, alike;

  bool none() const { return has_no_verdict() && undecided.empty() && alike.empty(); }
  bool has_no_verdict() const { return better.empty() && worse.empty() && equivalent.empty(); }
};

OnTestSet claims_on(const TaskEvidence& task, const ArmEvidence& baseline, const Cell& reference) {
  OnTestSet claims{&reference, {}, {}, {}, {}, {}};
  for (const auto& arm : task.arms) {
    const auto* cell = find_cell(arm, reference.test_set, reference.metric);
    if (baseline_of(task, arm) != &baseline || cell == nullptr || !cell->contrast) continue;
    const auto verdict = cell->contrast->verdict;
    if (verdict == Verdict::better) claims.better.push_back({&arm, cell});
    if (verdict == Verdict::worse) claims.worse.push_back({&arm, cell});
    if (verdict == Verdict::equivalent) claims.equivalent.push_back({&arm, cell});
    if (verdict == Verdict::undecided) claims.undecided.push_back({&arm, cell});
    if (verdict == Verdict::indistinguishable) claims.alike.push_back({&arm, cell});
  }
  return claims;
}

/// The first clause names the baseline; the others call it "it".
std::string sentence_on(const OnTestSet& claims, const ArmEvidence& baseline) {
  std::vector<std::string> clauses;
  if (!claims.better.empty()) clauses.push_back(clause("better than", claims.better));
  if (!claims.worse.empty()) clauses.push_back(clause("worse than", claims.worse));
  if (!claims.equivalent.empty()) clauses.push_back(clause("equivalent to", claims.equivalent));
  if (!claims.undecided.empty())
    clauses.push_back(
        clause("neither shown to differ from nor to be equivalent to", claims.undecided));
  if (!claims.alike.empty()) clauses.push_back(clause("not distinguishable from", claims.alike));
  const auto& test_set = claims.baseline->test_set;
  clauses.front() += " " + with_figure({&baseline, claims.baseline});
  for (size_t i = 1; i < clauses.size(); ++i) clauses[i] += " it";
  return fmt::format("{}{}{}", test_set.empty() ? "" : fmt::format("on {} ", test_set),
                     claims.baseline->extrapolates ? "(beyond the trained length) " : "",
                     joined(clauses, "; "));
}

/// The claims of the arms of one baseline, test set by test set. Test sets beyond the trained
/// length on which no arm differs share a sentence.
std::vector<std::string> claims_against(const TaskEvidence& task, const ArmEvidence& baseline) {
  std::vector<std::string> parts, alike;
  for (const auto& cell : baseline.cells) {
    if (!cell.primary) continue;
    const auto claims = claims_on(task, baseline, cell);
    if (claims.none()) continue;
    if (cell.extrapolates && claims.has_no_verdict() && claims.undecided.empty())
      alike.push_back(cell.test_set);
    else
      parts.push_back(sentence_on(claims, baseline));
  }
  if (!alike.empty())
    parts.push_back(
        fmt::format("beyond the trained length, on {}, no arm is distinguishable from {}",
                    enumerated(alike), baseline.name));
  return parts;
}

/// The sentence of the task, if there are claims.
std::vector<std::string> sentences_of(const TaskEvidence& task) {
  std::vector<std::string> parts;
  for (const auto& arm : task.arms)
    if (arm.baseline)
      for (auto& part : claims_against(task, arm)) parts.push_back(std::move(part));
  if (parts.empty()) return parts;
  return {fmt::format("{}, {}: {}.", task.name, display_name(task.metric), joined(parts, "; "))};
}

/// The first reason of a verdict for making no claim.
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
    for (auto& sentence : sentences_of(task)) sentences.push_back(std::move(sentence));
  return sentences.empty() ? no_claim(evidence) : joined(sentences, " ");
}

}  // namespace ablate::analysis
