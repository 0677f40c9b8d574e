#include "experiments/analysis/seed_components.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "experiments/analysis/contrast.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/statistics/components.h"
#include "experiments/config/study/crossed_seeds.h"

namespace ablate::analysis {
namespace {

using Table = std::vector<std::vector<double>>;

/// A row of values for each initialization, with one for each order. Absent if the finite values
/// are not those of every pair, or of fewer than two of a kind.
std::optional<Table> table_of(const std::vector<double>& values,
                              const std::vector<int64_t>& seeds) {
  std::map<int64_t, double> known;  // by seed, so that the orders of an initialization follow it
  std::set<int64_t> initializations, orders;
  for (size_t i = 0; i < seeds.size(); ++i) {
    initializations.insert(config::pair_of(seeds[i], true).initialization);
    orders.insert(config::pair_of(seeds[i], true).order);
    if (std::isfinite(values[i])) known[seeds[i]] = values[i];
  }
  const auto rows = initializations.size(), columns = orders.size();
  if (rows < 2 || columns < 2 || known.size() != rows * columns) return {};
  Table table;
  for (const auto& [seed, value] : known) {
    if (table.empty() || table.back().size() == columns) table.emplace_back();
    table.back().push_back(value);
  }
  return table;
}

/// The cost of crossing in words, and the advice which seeds to spend.
std::string advice_on(const SeedComponents& one) {
  const auto figure = [&](double error) { return format_metric(error, one.metric); };
  auto text = fmt::format(
      "the standard error of the mean is {}; {} runs, each with both seeds of its own, would have "
      "{}",
      figure(one.error), one.initializations * one.orders, figure(one.own_error));
  if (figure(one.error) == figure(one.own_error)) return text + ": crossing costs nothing here.";
  text += ", so give each run both seeds anew";
  if (one.best_initializations != one.initializations)
    text += fmt::format("; if runs must share seeds, spend on {} ({} x {} seeds would have {})",
                        one.best_initializations > one.initializations ? "initialization" : "order",
                        one.best_initializations, one.best_orders, figure(one.best_error));
  return text + ".";
}

std::string components_sentence(const SeedComponents& one, const statistics::Components& found) {
  const auto of = fmt::format("{}{}{}", one.arm, one.difference ? " minus the baseline" : "",
                              one.test_set.empty() ? "" : " on " + one.test_set);
  if (found.total() == 0) return of + ": all runs are alike.";
  const double percent = 100 / found.total();
  return fmt::format(
      "{}: {:.0f} % of the variance between runs is from initialization, {:.0f} % from order, and "
      "{:.0f} % from neither alone; {}",
      of, percent * found.rows, percent * found.columns, percent * found.rest, advice_on(one));
}

SeedComponents components_of(const Table& table, SeedComponents one) {
  const auto found = statistics::components_of(table);
  const statistics::TableSize size{std::ssize(table), std::ssize(table.front())};
  const auto best = statistics::best_size(found, size);
  one.initializations = size.rows;
  one.orders = size.columns;
  one.initialization = std::sqrt(found.rows);
  one.order = std::sqrt(found.columns);
  one.rest = std::sqrt(found.rest);
  one.error = std::sqrt(found.of_mean(size.rows, size.columns));
  one.own_error = std::sqrt(found.total() / static_cast<double>(size.rows * size.columns));
  one.best_initializations = best.rows;
  one.best_orders = best.columns;
  one.best_error = std::sqrt(found.of_mean(best.rows, best.columns));
  one.sentence = components_sentence(one, found);
  return one;
}

void forget_intervals(ArmEvidence& arm) {
  for (auto* sample : {&arm.steps, &arm.tokens, &arm.training_flops, &arm.training_seconds,
                       &arm.tokens_per_second, &arm.memory_bytes})
    sample->interval.reset();
  for (auto& cell : arm.cells) {
    cell.sample.interval.reset();
    cell.success.reset();
  }
}

}  // namespace

void add_components(TaskEvidence& task, const std::vector<int64_t>& seeds) {
  const auto& cells = task.arms.front().cells;
  const auto leading =
      task.declared_metric.empty() && !cells.empty() ? cells.front().metric : task.declared_metric;
  for (const auto& arm : task.arms) {
    const auto* baseline = baseline_of(task, arm);
    for (size_t i = 0; i < arm.cells.size(); ++i) {
      const auto& cell = arm.cells[i];
      if (task.metric.empty() ? cell.metric != leading : !cell.primary) continue;
      SeedComponents of{.arm = arm.name, .test_set = cell.test_set, .metric = cell.metric};
      if (const auto table = table_of(cell.sample.values, seeds))
        task.components.push_back(components_of(*table, of));
      if (baseline == nullptr) continue;
      of.difference = true;
      const auto differences = differences_by_seed(cell.sample, baseline->cells[i].sample);
      if (const auto table = table_of(differences, seeds))
        task.components.push_back(components_of(*table, of));
    }
  }
  for (auto& arm : task.arms) forget_intervals(arm);
}

}  // namespace ablate::analysis
