#include "experiments/analysis/tuned_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "experiments/config/schema/option.h"

namespace ablate::analysis {
namespace {

double mean_loss(const config::TriedCombination& tried) {
  double sum = 0;
  for (const double perplexity : tried.scores) sum += std::log(perplexity);
  return sum / static_cast<double>(tried.scores.size());
}

double sensitivity_of(const config::ArmSearch& search) {
  double sum = 0, count = 0;
  for (const auto& tried : search.tried)
    if (tried.declared) {
      sum += mean_loss(tried);
      ++count;
    }
  return sum / count - mean_loss(search.tried[*search.chosen]);
}

}  // namespace

TuningEvidence tuning_of(const config::Tuning& tuning) {
  TuningEvidence evidence{.keys = tuning.keys,
                          .metric = "validation_" + std::string(config::word_of(tuning.metric)),
                          .seeds = tuning.seeds,
                          .arms = {}};
  for (const auto& search : tuning.searches) {
    evidence.arms.push_back({.search = search});
    if (search.chosen && tuning.metric == config::ValidationMetric::perplexity)
      evidence.arms.back().sensitivity = sensitivity_of(search);
  }
  return evidence;
}

void add_edges(const TuningEvidence& tuning, std::vector<std::string>& notes) {
  for (const auto& [search, sensitivity] : tuning.arms)
    for (size_t key = 0; search.chosen && key < tuning.keys.size(); ++key)
      if (const auto end = search.at_edge.find(tuning.keys[key].path); end != search.at_edge.end())
        notes.push_back(fmt::format(
            "{}: the best {} of {} is {}, the {} that was tried, so it is at the edge of its grid "
            "and a better one may lie beyond; a study with more values in tune.keys would show it.",
            search.task, end->first, search.arm, search.tried[*search.chosen].values[key],
            config::word_of(end->second)));
}

std::string remark_on(const TunedArm& arm, const TuningEvidence& tuning) {
  const auto& search = arm.search;
  if (search.open > 0)
    return fmt::format("{} trial run{} to go", search.open, search.open == 1 ? "" : "s");
  if (search.tried.empty()) return "the arm that it starts from has no best values";
  if (!search.chosen) return "every combination diverged";
  std::vector<std::string> names;
  for (const auto& key : tuning.keys)
    if (search.at_edge.contains(key.path)) names.push_back(key.name);
  if (names.empty()) return "";
  return fmt::format("{} at the edge of {} grid", fmt::join(names, " and "),
                     names.size() == 1 ? "its" : "their");
}

std::string paths_of(const TuningEvidence& tuning) {
  std::vector<std::string> paths;
  for (const auto& key : tuning.keys) paths.push_back(key.path);
  return fmt::format("{}", fmt::join(paths, " and "));
}

std::string seeds_of(const TuningEvidence& tuning) {
  return fmt::format("{} {}", tuning.seeds.size() == 1 ? "seed" : "seeds",
                     fmt::join(tuning.seeds, ", "));
}

std::string sensitivity_figure(const TunedArm& arm) {
  return std::isnan(arm.sensitivity) ? "-" : fmt::format("{:.3f}", arm.sensitivity);
}

}  // namespace ablate::analysis
