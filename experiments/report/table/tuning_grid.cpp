#include <fmt/format.h>

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

std::string beside_baseline(const analysis::TunedArm& arm, size_t tried) {
  return arm.gain ? analysis::signed_figure(arm.gain->at_equal[tried]) : "";
}

/// What a value is to the choice of its arm: "chosen by 2", "nearest to the vertex".
std::string choice_words(const analysis::TunedArm& arm, size_t tried) {
  const auto& search = arm.search;
  const auto chosen = analysis::times_chosen(search, tried);
  if (arm.curve && !arm.curve->weights.empty() && arm.curve->weights[tried] == 0) return "left out";
  if (chosen == 0) return search.tried[tried].declared ? "" : "added";
  if (arm.curve) return "nearest";
  return search.chosen.size() == 1 ? "chosen" : fmt::format("chosen by {}", chosen);
}

}  // namespace

Grid tuning_grid(const analysis::Evidence& evidence) {
  const auto& tuning = *evidence.tuning;
  Grid grid{.title = fmt::format("chosen values of {} by {} on {}", analysis::paths_of(tuning),
                                 analysis::display_name(tuning.metric), analysis::seeds_of(tuning)),
            .columns = value_columns(evidence)};
  grid.columns.push_back({"sensitivity"});
  if (tuning.by == config::TunedBy::curve) grid.columns.push_back({"misfit"});
  grid.columns.push_back({.heading = "", .holds = Holds::words});
  for (const auto& arm : tuning.arms) {
    const auto& search = arm.search;
    auto row = value_row(
        evidence, search, [&](size_t key) { return analysis::chosen_values(arm, key); },
        analysis::has_chosen(search) ? tried_score(analysis::best_score(arm), tuning.metric) : "-");
    row.push_back({config::number_text(arm.sensitivity, 3)});
    if (arm.curve) row.push_back({config::number_text(arm.curve->misfit, 3)});
    row.push_back({analysis::remark_on(arm, tuning)});
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid tried_grid(const analysis::Evidence& evidence) {
  const auto& tuning = *evidence.tuning;
  Grid grid{.title = "Tried values", .columns = value_columns(evidence)};
  if (evidence.baseline) grid.columns.push_back({"beside " + *evidence.baseline});
  for (const auto seed : tuning.seeds) grid.columns.push_back({fmt::format("seed {}", seed)});
  grid.columns.push_back({.heading = "", .holds = Holds::words});
  for (const auto& arm : tuning.arms)
    for (size_t i = 0; i < arm.search.tried.size(); ++i) {
      const auto& search = arm.search;
      const auto& tried = search.tried[i];
      auto row = value_row(
          evidence, search, [&](size_t key) { return tried.values[key]; },
          tried_score(config::mean_score(tried), tuning.metric));
      row.back().best = analysis::times_chosen(search, i) == std::ssize(search.chosen);
      if (evidence.baseline) row.push_back({beside_baseline(arm, i)});
      for (size_t seed = 0; seed < tried.scores.size(); ++seed) {
        const auto& score = tried.scores[seed];
        row.push_back({score ? tried_score(*score, tuning.metric) : "-"});
        row.back().best = search.chosen.size() > 1 && search.chosen[seed].tried == i;
      }
      row.resize(grid.columns.size() - 1);
      row.push_back({choice_words(arm, i)});
      grid.rows.push_back(std::move(row));
    }
  return grid;
}

}  // namespace ablate::report
