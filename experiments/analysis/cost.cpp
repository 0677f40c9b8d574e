#include "experiments/analysis/cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/analysis/contrast.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/joint_test.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"
#include "training/storage/run_log.h"

namespace ablate::analysis {

Validations validations_of(const std::filesystem::path& log, const std::string& metric) {
  Validations found;
  if (!std::filesystem::exists(log)) return found;
  try {
    for (const auto& line : training::read_run_log(log))
      if (line.contains(metric))
        found.push_back({.spent = records::spent_at(line),
                         .value = training::with_non_finite(line.at(metric)).get<double>()});
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(log.string() + " is damaged: " + error.what());
  }
  return found;
}

Cost cost_of(const Validations& run, config::Resource resource,
             const std::pair<double, Direction>& target) {
  const auto& value = target.first;
  const auto& direction = target.second;
  if (run.empty() || std::isnan(value)) return {};
  const auto reached = std::ranges::find_if(run, [&](const Validation& one) {
    return direction == Direction::higher ? one.value >= value : one.value <= value;
  });
  if (reached == run.end()) return {records::of(run.back().spent, resource), Bound::above};
  const double spent = records::of(reached->spent, resource);
  if (reached == run.begin()) return {spent, Bound::below};
  const auto& before = *std::prev(reached);
  if (!std::isfinite(before.value)) return {spent};
  const double share = (value - before.value) / (reached->value - before.value);
  return {std::lerp(records::of(before.spent, resource), spent, share)};
}

Cost ratio_of(const Cost& arm, const Cost& baseline) {
  if (std::isnan(arm.value) || std::isnan(baseline.value) || baseline.value <= 0) return {};
  const double value = arm.value / baseline.value;
  if (baseline.bound == Bound::exact) return {value, arm.bound};
  const auto bound = baseline.bound == Bound::above ? Bound::below : Bound::above;
  if (arm.bound != Bound::exact && arm.bound != bound) return {kUntested, Bound::open};
  return {value, bound};
}

void set_mean(CostRatio& ratio, const std::vector<double>& logarithms) {
  ratio.mean = std::exp(statistics::mean(logarithms));
  if (const auto interval = statistics::sign_flip_interval(logarithms))
    ratio.interval = statistics::Interval{std::exp(interval->low), std::exp(interval->high)};
}

namespace {

using Costs = std::vector<Cost>;  // by seed

/// The values that the runs of an arm have to reach, by seed.
std::vector<double> targets_of(const config::Target& target, const std::vector<Validations>* base,
                               size_t seeds) {
  std::vector<double> values(seeds, target.value.value_or(kUntested));
  if (target.value || base == nullptr) return values;
  for (size_t seed = 0; seed < seeds; ++seed)
    if (!(*base)[seed].empty()) values[seed] = (*base)[seed].back().value;
  return values;
}

bool any_of(const std::vector<bool>& bounds) {
  return std::ranges::find(bounds, true) != bounds.end();
}

/// A bound from above is the cost of a run that is there at its first validation.
Cell cost_cell(config::Resource resource, const Costs& costs) {
  std::vector<double> values;
  std::vector<bool> censored, at_once;
  for (const auto& cost : costs) {
    values.push_back(cost.value);
    censored.push_back(cost.bound == Bound::above);
    at_once.push_back(cost.bound == Bound::below);
  }
  const auto& metric = *config::find_metric(config::to_target(resource));
  const statistics::Interval range{metric.low, metric.high};
  Cell cell{.metric = metric.name,
            .direction = metric.direction,
            .range = range,
            .sample = sample_of(std::move(values), range)};
  if (any_of(at_once)) cell.sample.at_once = std::move(at_once);
  if (any_of(censored)) cell.sample.censored = std::move(censored);
  if (!has_bounds(cell.sample)) return cell;
  if (is_censored(cell.sample) && !cell.sample.at_once.empty()) cell.sample.mean = kUntested;
  cell.sample.deviation = kUntested;
  cell.sample.interval.reset();
  return cell;
}

CostRatio ratios_of(config::Resource resource, const Costs& arm, const Costs& baseline) {
  CostRatio ratio{.resource = resource};
  std::vector<double> logs;
  bool exact = true;
  for (size_t seed = 0; seed < arm.size(); ++seed) {
    const auto [value, bound] = ratio_of(arm[seed], baseline[seed]);
    ratio.values.push_back(value);
    ratio.bounds.push_back(bound);
    exact = exact && bound == Bound::exact;
    if (!std::isnan(value)) logs.push_back(std::log(value));
  }
  if (exact && !logs.empty()) set_mean(ratio, logs);
  return ratio;
}

/// The place of an arm's baseline among the arms; its own if it is one.
std::optional<size_t> baseline_place(const TaskEvidence& task, size_t arm) {
  if (task.arms[arm].baseline) return arm;
  const auto* baseline = baseline_of(task, task.arms[arm]);
  if (baseline == nullptr) return {};
  return static_cast<size_t>(baseline - task.arms.data());
}

}  // namespace

void add_costs(TaskEvidence& task, const config::Target& target,
               const std::vector<std::vector<Validations>>& runs) {
  const auto* known = config::find_metric(target.metric);  // null: the loss
  const auto direction = known == nullptr ? Direction::lower : known->direction;
  for (size_t arm = 0; arm < task.arms.size(); ++arm) {
    const auto base = baseline_place(task, arm);
    const auto values = targets_of(target, base ? &runs[*base] : nullptr, runs[arm].size());
    for (const auto resource : config::kResources) {
      const auto costs = [&](size_t of) {
        Costs all;
        for (size_t seed = 0; seed < values.size(); ++seed)
          all.push_back(cost_of(runs[of][seed], resource, {values[seed], direction}));
        return all;
      };
      task.arms[arm].cells.push_back(cost_cell(resource, costs(arm)));
      if (base && *base != arm)
        task.arms[arm].cost_ratios.push_back(ratios_of(resource, costs(arm), costs(*base)));
    }
  }
}

std::string ratio_figure(const CostRatio& ratio) {
  const auto figure = [](double value) {
    return value < 0.1   ? fmt::format("{:.2g}", value)
           : value < 100 ? fmt::format("{:.2f}", value)
                         : fmt::format("{:.3g}", value);
  };
  if (ratio.interval)
    return fmt::format("{} ({} to {})", figure(ratio.mean), figure(ratio.interval->low),
                       figure(ratio.interval->high));
  if (!std::isnan(ratio.mean)) return figure(ratio.mean);
  int64_t runs = 0;
  std::map<Bound, std::vector<double>> bounded;
  for (size_t i = 0; i < ratio.values.size(); ++i) {
    bounded[ratio.bounds[i]].push_back(ratio.values[i]);
    if (!std::isnan(ratio.values[i]) || ratio.bounds[i] == Bound::open) ++runs;
  }
  bounded.erase(Bound::exact);
  std::vector<std::string> parts;
  for (const auto& [bound, values] : bounded) {
    const auto [least, most] = std::ranges::minmax(values);
    auto part = bound == Bound::above   ? "> " + figure(least)
                : bound == Bound::below ? "< " + figure(most)
                                        : std::string("open");
    if (std::ssize(values) < runs) part += fmt::format(" in {} of {} seeds", values.size(), runs);
    parts.push_back(std::move(part));
  }
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace ablate::analysis
