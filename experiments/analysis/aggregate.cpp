#include "experiments/analysis/aggregate.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/analysis/claims.h"
#include "experiments/analysis/contrast.h"
#include "experiments/analysis/statistics/estimates.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"
#include "training/storage/run_log.h"

namespace ablate::analysis {
namespace {

/// The cells of one arm, one for each task; empty if a task has no such cell or no finished run.
std::vector<const Cell*> cells_over_tasks(const std::vector<const TaskEvidence*>& tasks, size_t arm,
                                          const std::string& metric) {
  std::vector<const Cell*> cells;
  for (const auto* task : tasks) {
    const auto* cell = cell_within(task->arms[arm], metric);
    if (cell == nullptr || cell->sample.count == 0) return {};
    cells.push_back(cell);
  }
  return cells;
}

Aggregate aggregate_of(const std::string& arm, const std::vector<const Cell*>& cells) {
  statistics::TaskScores scores;
  std::vector<double> improvements;
  for (const auto* cell : cells) {
    scores.push_back(finished_values(cell->sample));
    if (cell->contrast) improvements.push_back(cell->contrast->improvement);
  }
  Aggregate aggregate{.arm = arm,
                      .interquartile_mean = statistics::interquartile_mean(scores),
                      .interval = statistics::interquartile_interval(scores)};
  if (improvements.size() == cells.size()) aggregate.improvement = statistics::mean(improvements);
  return aggregate;
}

}  // namespace

std::vector<Aggregate> aggregates_of(const Evidence& evidence) {
  const auto* metric = config::find_metric(evidence.metric);
  if (metric == nullptr || !std::isfinite(metric->high)) return {};
  std::vector<const TaskEvidence*> tasks;
  for (const auto& task : evidence.tasks)
    if (!task.metric.empty() && task.metric == evidence.metric) tasks.push_back(&task);
  if (tasks.size() < 2) return {};
  std::vector<Aggregate> aggregates;
  for (size_t arm = 0; arm < tasks.front()->arms.size(); ++arm)
    if (const auto cells = cells_over_tasks(tasks, arm, evidence.metric); !cells.empty())
      aggregates.push_back(aggregate_of(tasks.front()->arms[arm].name, cells));
  return aggregates;
}

namespace {

/// The power law over all arms; `of` gives the value of a cell's sample.
template <class Of>
std::optional<statistics::PowerLaw> law_over_arms(const TaskEvidence& task, size_t cell, Of of) {
  std::vector<statistics::Observation> observations;
  for (const auto& arm : task.arms)
    observations.push_back({static_cast<double>(arm.parameters), of(arm.cells[cell].sample)});
  return statistics::fit_power_law(observations);
}

}  // namespace

std::vector<SizeFit> size_fits_of(const TaskEvidence& task) {
  std::vector<SizeFit> fits;
  for (size_t cell = 0; cell < task.arms.front().cells.size(); ++cell) {
    const auto& first = task.arms.front().cells[cell];
    if (!first.primary) continue;
    const auto law = law_over_arms(task, cell, [](const Sample& sample) { return sample.mean; });
    if (!law) continue;
    std::vector<double> exponents;
    for (size_t seed = 0; seed < first.sample.values.size(); ++seed) {
      const auto one =
          law_over_arms(task, cell, [&](const Sample& sample) { return sample.values[seed]; });
      exponents.push_back(one ? one->exponent : kUntested);
    }
    fits.push_back({.test_set = first.test_set,
                    .metric = first.metric,
                    .law = *law,
                    .exponents = sample_of(std::move(exponents))});
  }
  return fits;
}

namespace {

struct Steps {
  double made = kUntested;  // NaN: no validations
  bool censored = false;
};

Steps steps_of(const LoggedRun& run, const config::Target& target) {
  const bool higher = config::find_metric(target.metric)->direction == Direction::higher;
  Steps steps;
  if (!std::filesystem::exists(run.log)) return steps;
  for (const auto& line : training::read_run_log(run.log)) {
    if (!line.contains(target.metric)) continue;
    const auto value = training::with_non_finite(line.at(target.metric)).get<double>();
    if (higher ? value >= target.value : value <= target.value)
      return {.made = line.at("step").get<double>()};
    steps = {.made = static_cast<double>(run.steps), .censored = true};
  }
  return steps;
}

}  // namespace

Cell steps_cell(const config::Target& target, std::span<const std::optional<LoggedRun>> runs) {
  std::vector<double> values;
  std::vector<bool> censored;
  for (const auto& run : runs) {
    Steps steps;
    try {
      if (run) steps = steps_of(*run, target);
    } catch (const nlohmann::json::exception& error) {
      throw training::CheckpointError(run->log.string() + " is damaged: " + error.what());
    }
    values.push_back(steps.made);
    censored.push_back(steps.censored);
  }
  const auto& metric = *config::find_metric(config::steps_to(target.metric));
  Cell cell{.metric = metric.name,
            .direction = metric.direction,
            .range = {metric.low, metric.high},
            .sample = sample_of(std::move(values), {metric.low, metric.high})};
  if (std::ranges::find(censored, true) == censored.end()) return cell;
  cell.sample.censored = std::move(censored);
  cell.sample.deviation = kUntested;
  cell.sample.interval.reset();
  return cell;
}

}  // namespace ablate::analysis
