#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/tuned_values.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

/// The columns of a task, if there are several, of an arm, of its values and of their score.
std::vector<GridColumn> value_columns(const analysis::Evidence& evidence) {
  std::vector<GridColumn> columns;
  if (evidence.tasks.size() > 1) columns.push_back({.heading = "task", .holds = Holds::names});
  columns.push_back({.heading = "arm", .holds = Holds::arms});
  for (const auto& key : evidence.tuning->keys) columns.push_back({key.name});
  columns.push_back({analysis::display_name(evidence.tuning->metric)});
  return columns;
}

std::string tried_score(double score, const std::string& metric) {
  return std::isnan(score) ? "diverged" : analysis::format_metric(score, metric);
}

/// A row of value_columns(), with `value` of every key.
template <class Value>
GridRow value_row(const analysis::Evidence& evidence, const config::ArmSearch& search,
                  const Value& value, const std::string& score) {
  GridRow row;
  if (evidence.tasks.size() > 1) row.push_back({search.task});
  row.push_back({search.arm});
  for (size_t key = 0; key < evidence.tuning->keys.size(); ++key) row.push_back({value(key)});
  row.push_back({score});
  return row;
}

/// The mean difference of the scores from those of the baseline with equal values, over the seeds
/// that both have; empty of the baseline and without one.
std::string beside_baseline(const analysis::Evidence& evidence, const config::ArmSearch& search,
                            const config::TriedCombination& tried) {
  const auto& arms = evidence.tuning->arms;
  const auto baseline = std::ranges::find_if(arms, [&](const analysis::TunedArm& arm) {
    return arm.search.task == search.task && arm.search.arm == evidence.baseline;
  });
  if (baseline == arms.end() || search.arm == evidence.baseline) return "";
  const auto& all = baseline->search.tried;
  const auto equal = std::ranges::find(all, tried.values, &config::TriedCombination::values);
  if (equal == all.end()) return "-";
  std::vector<double> differences;
  for (size_t seed = 0; seed < tried.scores.size(); ++seed)
    if (tried.scores[seed] && equal->scores[seed])
      differences.push_back(*tried.scores[seed] - *equal->scores[seed]);
  const double mean = statistics::mean(differences);
  return std::isnan(mean) ? "-" : fmt::format("{:+.3f}", mean);
}

}  // namespace

Grid tuning_grid(const analysis::Evidence& evidence) {
  const auto& tuning = *evidence.tuning;
  Grid grid{.title = fmt::format("chosen values of {} by {} on {}", analysis::paths_of(tuning),
                                 analysis::display_name(tuning.metric), analysis::seeds_of(tuning)),
            .columns = value_columns(evidence),
            .rows = {}};
  grid.columns.push_back({"sensitivity"});
  grid.columns.push_back({.heading = "", .holds = Holds::words});
  for (const auto& arm : tuning.arms) {
    const auto& search = arm.search;
    auto row = value_row(
        evidence, search, [&](size_t key) { return analysis::chosen_values(search, key); },
        analysis::has_chosen(search) ? tried_score(config::chosen_score(search), tuning.metric)
                                     : "-");
    row.push_back({analysis::sensitivity_figure(arm)});
    row.push_back({analysis::remark_on(arm, tuning)});
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid tried_grid(const analysis::Evidence& evidence) {
  const auto& tuning = *evidence.tuning;
  Grid grid{.title = "Tried values", .columns = value_columns(evidence), .rows = {}};
  if (evidence.baseline) grid.columns.push_back({"beside " + *evidence.baseline});
  for (const auto seed : tuning.seeds) grid.columns.push_back({fmt::format("seed {}", seed)});
  grid.columns.push_back({.heading = "", .holds = Holds::words});
  for (const auto& [search, sensitivity] : tuning.arms)
    for (size_t i = 0; i < search.tried.size(); ++i) {
      const auto& tried = search.tried[i];
      const auto chosen =
          std::ranges::count(search.chosen, std::optional(i), &config::ChosenCombination::tried);
      auto row = value_row(
          evidence, search, [&](size_t key) { return tried.values[key]; },
          tried_score(config::mean_score(tried), tuning.metric));
      row.back().best = chosen == std::ssize(search.chosen);
      if (evidence.baseline) row.push_back({beside_baseline(evidence, search, tried)});
      for (size_t seed = 0; seed < tried.scores.size(); ++seed) {
        const auto& score = tried.scores[seed];
        row.push_back({score ? tried_score(*score, tuning.metric) : "-"});
        row.back().best = search.chosen.size() > 1 && search.chosen[seed].tried == i;
      }
      row.resize(grid.columns.size() - 1);
      row.push_back({chosen == 0                 ? (tried.declared ? "" : "added")
                     : search.chosen.size() == 1 ? "chosen"
                                                 : fmt::format("chosen by {}", chosen)});
      grid.rows.push_back(std::move(row));
    }
  return grid;
}

}  // namespace ablate::report
