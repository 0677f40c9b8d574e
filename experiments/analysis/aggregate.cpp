#include "experiments/analysis/aggregate.h"

#include <cmath>
#include <iterator>
#include <set>

#include "experiments/analysis/claims.h"
#include "experiments/analysis/contrast.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/power_law.h"

namespace ablate::analysis {
namespace {

/// The cells of one arm, one for each setting; empty if a setting has no such cell or no finished
/// run.
std::vector<const Cell*> cells_over_settings(const std::vector<const TaskEvidence*>& settings,
                                             size_t arm, const std::string& metric) {
  std::vector<const Cell*> cells;
  for (const auto* setting : settings) {
    const auto* cell = cell_within(setting->arms[arm], metric);
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
  std::vector<const TaskEvidence*> settings;
  std::set<std::string> tasks;
  for (const auto& setting : evidence.tasks) {
    if (setting.metric.empty() || setting.metric != evidence.metric) continue;
    settings.push_back(&setting);
    tasks.insert(setting.setting.task);
  }
  if (tasks.size() < 2) return {};
  std::vector<Aggregate> aggregates;
  for (size_t arm = 0; arm < settings.front()->arms.size(); ++arm) {
    const auto cells = cells_over_settings(settings, arm, evidence.metric);
    if (cells.empty()) continue;
    aggregates.push_back(aggregate_of(settings.front()->arms[arm].name, cells));
    aggregates.back().tasks = std::ssize(tasks);
    aggregates.back().settings = std::ssize(settings);
  }
  return aggregates;
}

namespace {

/// The power law over all models; `of` gives the value of a sample.
template <class Of>
std::optional<statistics::PowerLaw> law_over(const std::vector<Sized>& models, Of of) {
  std::vector<statistics::Observation> observations;
  for (const auto& [parameters, sample] : models)
    observations.push_back({static_cast<double>(parameters), of(*sample)});
  return statistics::fit_power_law(observations);
}

}  // namespace

std::optional<SizeFit> size_fit_of(const std::vector<Sized>& models, const std::string& test_set,
                                   const std::string& metric) {
  const auto law = law_over(models, [](const Sample& sample) { return sample.mean; });
  if (!law) return {};
  std::vector<double> exponents;
  for (size_t seed = 0; seed < models.front().sample->values.size(); ++seed) {
    const auto one = law_over(models, [&](const Sample& sample) { return sample.values[seed]; });
    exponents.push_back(one ? one->exponent : kUntested);
  }
  return SizeFit{.test_set = test_set,
                 .metric = metric,
                 .law = *law,
                 .exponents = sample_of(std::move(exponents))};
}

std::vector<SizeFit> size_fits_of(const TaskEvidence& task) {
  std::vector<SizeFit> fits;
  for (size_t cell = 0; cell < task.arms.front().cells.size(); ++cell) {
    const auto& first = task.arms.front().cells[cell];
    if (!first.primary) continue;
    std::vector<Sized> models;
    for (const auto& arm : task.arms)
      if (!arm.control) models.push_back({arm.parameters, &arm.cells[cell].sample});
    if (auto fit = size_fit_of(models, first.test_set, first.metric))
      fits.push_back(std::move(*fit));
  }
  return fits;
}

}  // namespace ablate::analysis
