#include "experiments/analysis/pooled.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/analysis/claims.h"
#include "experiments/analysis/contrast.h"

namespace ablate::analysis {
namespace {

/// A cell and its weight in a mean.
struct Weighted {
  const Cell* cell;
  double weight = 1;
};

/// The weighted mean of cells with one metric, seed by seed.
Cell mean_cell(const std::vector<Weighted>& parts, config::Over over) {
  const auto& first = *parts.front().cell;
  Cell mean{
      .over = over, .metric = first.metric, .direction = first.direction, .range = first.range};
  std::vector<double> values(first.sample.values.size(), 0);
  double total = 0;
  for (const auto& [cell, weight] : parts) {
    total += weight;
    for (size_t seed = 0; seed < values.size(); ++seed)
      values[seed] += weight * cell->sample.values[seed];
    mean.extrapolates = mean.extrapolates || cell->extrapolates;
  }
  for (auto& value : values) value /= total;
  mean.sample = sample_of(std::move(values), mean.range);
  if (first.success) mean.success = success_of(mean.sample);
  return mean;
}

/// The cells of the lengths, from the shortest on.
std::vector<Weighted> cells_over_lengths(const ArmEvidence& arm, const TaskEvidence& task,
                                         const config::Comparison& comparison) {
  const auto named = comparison.test_sets.find(task.name);
  const auto is_chosen = [&](const Cell& cell) {
    return named == comparison.test_sets.end() ||
           std::ranges::find(named->second, cell.test_set) != named->second.end();
  };
  std::vector<Weighted> parts;
  for (const auto& cell : arm.cells)
    if (cell.metric == task.metric && cell.length > 0 && is_chosen(cell)) parts.push_back({&cell});
  std::ranges::sort(parts, {}, [](const Weighted& part) { return part.cell->length; });
  return parts;
}

/// The trapezoids' weights: half the distance between a length's neighbours, on a logarithmic axis.
void weigh_by_log_length(std::vector<Weighted>& parts) {
  const auto place = [&](size_t i) { return std::log(static_cast<double>(parts[i].cell->length)); };
  for (size_t i = 0, last = parts.size() - 1; i <= last; ++i)
    parts[i].weight = (place(std::min(i + 1, last)) - place(i == 0 ? 0 : i - 1)) / 2;
}

using Parts = std::vector<const TaskEvidence*>;

/// Every primary cell of the arm, each task having a weight of 1 in all.
std::vector<Weighted> cells_over_tasks(const Parts& parts, size_t arm) {
  std::vector<Weighted> all;
  for (const auto* part : parts) {
    const auto& cells = part->arms[arm].cells;
    const auto primary = std::ranges::count(cells, true, &Cell::primary);
    if (primary == 0) return {};  // no run of the task has finished
    for (const auto& cell : cells)
      if (cell.primary) all.push_back({&cell, 1 / static_cast<double>(primary)});
  }
  return all;
}

/// The reason for which no claim is made of the arm beyond the trained length of tasks, if any.
std::optional<NoClaim> unlearned_in(const Parts& parts, size_t arm) {
  NoClaim why{.reason = Reason::not_learned};
  for (const auto* part : parts) {
    const auto& own = part->arms[arm];
    const auto* baseline = baseline_of(*part, own);
    const bool beyond = std::ranges::any_of(
        own.cells, [](const Cell& cell) { return cell.primary && cell.extrapolates; });
    auto one = beyond && baseline != nullptr ? not_learned(own, *baseline) : std::nullopt;
    if (!one) continue;
    if (one->reason == Reason::no_gate) return one;
    for (auto& unlearned : one->unlearned) {
      unlearned.test_set += " of " + part->name;
      why.unlearned.push_back(std::move(unlearned));
    }
  }
  return why.unlearned.empty() ? std::nullopt : std::optional(std::move(why));
}

ArmEvidence arm_over(const Parts& parts, size_t arm) {
  const auto& first = parts.front()->arms[arm];
  ArmEvidence all{.name = first.name,
                  .baseline = first.baseline,
                  .control = first.control,
                  .changes = first.changes};
  const int64_t finished = std::ranges::count_if(
      parts, [&](const TaskEvidence* part) { return part->arms[arm].parameters > 0; });
  for (const auto member : {&ArmEvidence::parameters, &ArmEvidence::active_parameters,
                            &ArmEvidence::trained_parameters, &ArmEvidence::table_parameters}) {
    for (const auto* part : parts) all.*member += part->arms[arm].*member;
    all.*member /= std::max<int64_t>(finished, 1);
  }
  for (const auto member : {&ArmEvidence::steps, &ArmEvidence::tokens, &ArmEvidence::training_flops,
                            &ArmEvidence::training_seconds}) {
    auto sums = (first.*member).values;
    for (size_t part = 1; part < parts.size(); ++part)
      for (size_t seed = 0; seed < sums.size(); ++seed)
        sums[seed] += (parts[part]->arms[arm].*member).values[seed];
    all.*member = sample_of(std::move(sums));
  }
  // Rates and peaks have no sum.
  for (const auto member : {&ArmEvidence::tokens_per_second, &ArmEvidence::memory_bytes})
    all.*member = sample_of(std::vector<double>(first.steps.values.size(), kUntested));
  const auto cells = cells_over_tasks(parts, arm);
  if (cells.empty()) return all;
  all.cells.push_back(mean_cell(cells, config::Over::tasks));
  all.cells.front().test_set = fmt::format("{} tasks", parts.size());
  all.cells.front().primary = true;
  all.cells.front().unlearned = unlearned_in(parts, arm);
  return all;
}

TaskEvidence task_over(const Parts& parts) {
  const auto& first = *parts.front();
  TaskEvidence all{.name = kAllTasks + first.name.substr(first.setting.task.size()),
                   .setting = first.setting,
                   .metric = first.metric,
                   .declared_metric = first.declared_metric};
  all.setting.name = all.name;
  all.setting.task = kAllTasks;
  all.same_tokens = std::ranges::all_of(parts, &TaskEvidence::same_tokens);
  for (size_t arm = 0; arm < first.arms.size(); ++arm) all.arms.push_back(arm_over(parts, arm));
  for (const auto* part : parts) all.parts.push_back(part->name);
  return all;
}

}  // namespace

void add_over_lengths(TaskEvidence& task, const config::Comparison& comparison) {
  for (auto& arm : task.arms) {
    auto parts = cells_over_lengths(arm, task, comparison);
    if (parts.size() < 2) continue;
    const bool logarithmic = comparison.over == config::Over::log_lengths;
    if (logarithmic) weigh_by_log_length(parts);
    auto mean = mean_cell(parts, comparison.over);
    mean.test_set = fmt::format("{}lengths {} to {}", logarithmic ? "log " : "",
                                parts.front().cell->length, parts.back().cell->length);
    arm.cells.insert(arm.cells.begin(), std::move(mean));
  }
}

std::vector<TaskEvidence> over_tasks(const std::vector<TaskEvidence>& tasks,
                                     const config::Study& study) {
  const auto declared = config::tasks_of(study.declared_settings).size();
  std::vector<TaskEvidence> all;
  for (const auto& first : tasks) {
    if (first.setting.task != tasks.front().setting.task) continue;
    Parts parts;
    for (const auto& task : tasks)
      if (task.setting.size == first.setting.size && task.setting.grid == first.setting.grid)
        parts.push_back(&task);
    if (parts.size() == declared) all.push_back(task_over(parts));
  }
  return all;
}

}  // namespace ablate::analysis
