#include "experiments/analysis/steps_to.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/analysis/sample.h"
#include "training/storage/checkpoint_error.h"
#include "training/storage/finite_json.h"
#include "training/storage/run_log.h"

namespace ablate::analysis {
namespace {

struct Steps {
  double made = kUntested;  // NaN: nothing was validated
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
