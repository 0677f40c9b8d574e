#include "experiments/analysis/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/config/schema/option.h"
#include "experiments/errors.h"

namespace ablate::analysis {
namespace {

/// Without a test set, the number that the study compares, or else that of the first test set.
const Cell* cell_of_term(const ArmEvidence& arm, const config::Term& term) {
  const Cell* first = nullptr;
  for (const auto& cell : arm.cells) {
    if (cell.metric != term.metric) continue;
    if (term.test_set.empty() ? cell.over.has_value() : cell.test_set == term.test_set)
      return &cell;
    if (term.test_set.empty() && first == nullptr) first = &cell;
  }
  return first;
}

/// A side of the claim: its value and its text.
struct Side {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string text;
};

Side term_side(const config::Term& term, const TaskEvidence& task) {
  if (!term.arm) return {term.factor, fmt::format("{}", term.factor)};
  const auto& name = *term.arm;
  const auto* arm = find_named(task.arms, name);
  const auto* cell = arm == nullptr ? nullptr : cell_of_term(*arm, term);
  if (cell == nullptr || cell->sample.count == 0)
    return {.text = fmt::format("{}.{}{} is missing", name, term.metric,
                                term.test_set.empty() ? "" : "[" + term.test_set + "]")};
  if (has_bounds(cell->sample))
    return {.text = fmt::format(
                "{}.{} is {}: a run {}", name, term.metric, mean_figure(cell->sample, term.metric),
                is_censored(cell->sample) ? "has not reached the target"
                                          : "was at the target at its first validation")};
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
      break;
  }
  return !config::is_above(std::abs(left - right), clause.tolerance);
}

}  // namespace

Expectation check_clause(const config::Clause& clause, const Evidence& evidence) {
  Expectation expectation{.text = clause.text};
  const auto* task = find_named(evidence.tasks, clause.task);
  if (task == nullptr) return expectation;
  const auto left = term_side(clause.left, *task), right = term_side(clause.right, *task);
  expectation.holds = holds(clause, left.value, right.value);
  auto relation = config::word_of(clause.relation);
  if (clause.relation == config::Relation::within)
    relation += fmt::format(" {} of", clause.tolerance);
  if (std::isnan(left.value) || std::isnan(right.value))
    expectation.numbers = std::isnan(left.value) ? left.text : right.text;
  else
    expectation.numbers = fmt::format("{} {} {}", left.text, relation, right.text);
  return expectation;
}

void raise_failed(const std::vector<Expectation>& expectations) {
  std::string failed;
  for (const auto& expectation : expectations)
    if (!expectation.holds)
      failed += fmt::format("\n  {}: {}", expectation.text, expectation.numbers);
  if (!failed.empty()) throw ExpectationFailed("expectations of the study do not hold:" + failed);
}

}  // namespace ablate::analysis
