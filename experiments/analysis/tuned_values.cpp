#include "experiments/analysis/tuned_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "experiments/analysis/curve.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/config/schema/option.h"

namespace ablate::analysis {
namespace {

/// The mean of the seeds' own curves over these losses, at the vertex.
double loss_at_vertex(const config::ArmSearch& losses, const std::vector<double>& weights) {
  std::vector<double> own;
  for (size_t seed = 0; seed < losses.tried.front().scores.size(); ++seed) {
    double loss = 0;  // NaN of a seed that lacks a run
    for (size_t i = 0; i < weights.size(); ++i)
      if (weights[i] != 0) loss += weights[i] * losses.tried[i].scores[seed].value_or(kUntested);
    if (!std::isnan(loss)) own.push_back(loss);
  }
  return statistics::mean(own);
}

/// Of an arm whose scores are perplexities.
double sensitivity_of(const TunedArm& arm) {
  auto losses = arm.search;
  for (auto& tried : losses.tried)
    for (auto& score : tried.scores)
      if (score) score = std::log(*score);
  std::vector<double> declared;
  for (const auto& tried : losses.tried)
    if (tried.declared) declared.push_back(config::mean_score(tried));
  return statistics::mean(declared) -
         (arm.curve ? loss_at_vertex(losses, arm.curve->weights) : config::chosen_score(losses));
}

/// The mean difference from the baseline at equal values, over the seeds that both have.
double beside(const config::ArmSearch& baseline, const config::TriedCombination& tried) {
  const auto equal =
      std::ranges::find(baseline.tried, tried.values, &config::TriedCombination::values);
  if (equal == baseline.tried.end()) return kUntested;
  std::vector<double> differences;
  for (size_t seed = 0; seed < tried.scores.size(); ++seed)
    if (tried.scores[seed] && equal->scores[seed])
      differences.push_back(*tried.scores[seed] - *equal->scores[seed]);
  return statistics::mean(differences);
}

}  // namespace

std::string signed_figure(double difference) {
  const auto figure = config::number_text(difference, 3);
  return (figure.starts_with('-') ? "" : "+") + figure;
}

int64_t times_chosen(const config::ArmSearch& search, size_t tried) {
  return std::ranges::count(search.chosen, std::optional(tried), &config::ChosenCombination::tried);
}

bool has_chosen(const config::ArmSearch& search) {
  return std::ranges::all_of(search.chosen, [](const auto& one) { return one.tried.has_value(); });
}

int64_t at_edge(const config::ArmSearch& search, const config::TunedKey& key) {
  return std::ranges::count_if(search.chosen,
                               [&](const auto& one) { return one.at_edge.contains(key.path); });
}

std::string chosen_values(const TunedArm& arm, size_t key) {
  if (arm.curve) return arm.curve->weights.empty() ? "-" : fmt::format("{:.3g}", arm.curve->value);
  const auto& search = arm.search;
  std::vector<std::string> chosen;  // by each search, in the order of the values
  for (size_t i = 0; i < search.tried.size(); ++i)
    chosen.insert(chosen.end(), static_cast<size_t>(times_chosen(search, i)),
                  search.tried[i].values[key]);
  const auto values = grouped(chosen, std::identity());
  if (values.empty()) return "-";
  if (values.size() == 1) return values.front().first;
  std::vector<std::string> counts;
  for (const auto& [value, searches] : values)
    counts.push_back(fmt::format("{} ({})", value, searches.size()));
  return fmt::format("{}", fmt::join(counts, ", "));
}

std::vector<TunedArm> arms_of(const std::vector<config::ArmSearch>& searches) {
  std::vector<TunedArm> arms;
  for (const auto& search : searches) arms.push_back({.search = search});
  return arms;
}

double best_score(const TunedArm& arm) {
  return arm.curve ? arm.curve->score : config::chosen_score(arm.search);
}

void add_gains(TuningEvidence& tuning, const std::optional<std::string>& baseline) {
  for (auto& arm : tuning.arms) {
    const auto base = std::ranges::find_if(tuning.arms, [&](const TunedArm& other) {
      return other.search.task == arm.search.task && other.search.arm == baseline;
    });
    if (base == tuning.arms.end() || arm.search.arm == baseline) continue;
    arm.gain = {.at_best = best_score(arm) - best_score(*base)};
    for (const auto& tried : arm.search.tried)
      arm.gain->at_equal.push_back(beside(base->search, tried));
  }
}

void add_tuning(Evidence& evidence, const config::Tuning& tuning, std::vector<TunedArm> arms) {
  auto& added = evidence.tuning.emplace(
      TuningEvidence{.keys = tuning.keys,
                     .metric = "validation_" + std::string(config::word_of(tuning.metric)),
                     .by = tuning.by,
                     .seeds = tuning.seeds,
                     .arms = std::move(arms)});
  for (auto& arm : added.arms)
    if (has_chosen(arm.search) && tuning.metric == config::ValidationMetric::perplexity)
      arm.sensitivity = sensitivity_of(arm);
  add_gains(added, evidence.baseline);
  if (added.by == config::TunedBy::shared) return;
  const auto is_tuned = [&](const ChangedKey& change) {
    return std::ranges::find(added.keys, change.path, &config::TunedKey::path) != added.keys.end();
  };
  for (auto& task : evidence.tasks)
    for (auto& arm : task.arms) std::erase_if(arm.changes, is_tuned);
}

std::string gain_sentence(const TunedArm& arm, const Evidence& evidence) {
  if (!arm.gain || std::isnan(arm.gain->at_best)) return "";
  auto equal = arm.gain->at_equal;
  std::erase_if(equal, [](double one) { return std::isnan(one); });
  if (equal.empty()) return "";
  const auto [low, high] = std::ranges::minmax(equal);
  return fmt::format(
      "{}: {} minus {} in {}: {} at each arm's best, {} to {} at equal values of {}.",
      arm.search.task, arm.search.arm, *evidence.baseline, display_name(evidence.tuning->metric),
      signed_figure(arm.gain->at_best), signed_figure(low), signed_figure(high),
      paths_of(*evidence.tuning));
}

void add_edges(const TuningEvidence& tuning, std::vector<std::string>& notes) {
  for (size_t key = 0; key < tuning.keys.size(); ++key) {
    const auto& path = tuning.keys[key].path;
    std::vector<std::string> arms;
    for (const auto& [search, sensitivity, curve, gain] : tuning.arms) {
      const auto count = at_edge(search, tuning.keys[key]);
      if (count == 0) continue;
      const auto& first = search.chosen.front();
      arms.push_back(
          fmt::format("{}/{} ({})", search.task, search.arm,
                      tuning.by != config::TunedBy::seed
                          ? fmt::format("{}, the {}", search.tried[*first.tried].values[key],
                                        config::word_of(first.at_edge.at(path)))
                          : fmt::format("{} of {} seeds", count, search.chosen.size())));
    }
    if (!arms.empty())
      notes.push_back(fmt::format(
          "The best {} is the smallest or the largest that was tried, and a better one may lie "
          "beyond, of {}; a study with more values in tune.keys would show it.",
          path, fmt::join(arms, ", ")));
  }
}

std::string remark_on(const TunedArm& arm, const TuningEvidence& tuning) {
  const auto& search = arm.search;
  if (search.open > 0)
    return fmt::format("{} {}run{} to go", search.open, arm.curve ? "" : "trial ",
                       search.open == 1 ? "" : "s");
  if (arm.curve) return curve_remark(arm, tuning);
  if (search.tried.empty()) return "the arm that it starts from has no best values";
  if (!has_chosen(search)) return "every combination diverged";
  std::vector<std::string> names;
  for (const auto& key : tuning.keys)
    if (const auto count = at_edge(search, key); count > 0)
      names.push_back(tuning.by == config::TunedBy::shared
                          ? key.name
                          : fmt::format("{} of {} seed{}", key.name, count, count == 1 ? "" : "s"));
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
  const auto seeds = fmt::format("{}", fmt::join(tuning.seeds, ", "));
  if (tuning.by == config::TunedBy::seed) return fmt::format("a seed of its own ({})", seeds);
  return (tuning.seeds.size() == 1 ? "seed " : "seeds ") + seeds;
}

}  // namespace ablate::analysis
