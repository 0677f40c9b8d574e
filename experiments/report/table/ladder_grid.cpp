#include <fmt/format.h>

#include <cmath>

#include "experiments/analysis/figure.h"
#include "experiments/config/schema/option.h"
#include "experiments/report/table/grid.h"
#include "experiments/report/table/grid_parts.h"

namespace ablate::report {

std::string ladder_title(const analysis::Ladder& ladder) {
  return fmt::format("Over {}: {}{}, {}{}",
                     ladder.axis == analysis::kSizeAxis ? "sizes" : ladder.axis, ladder.task,
                     ladder.at.empty() ? "" : fmt::format(" ({})", ladder.at),
                     analysis::display_name(ladder.metric),
                     ladder.test_set.empty() ? "" : " on " + ladder.test_set);
}

Grid ladder_grid(const analysis::Ladder& ladder) {
  const bool sizes = ladder.axis == analysis::kSizeAxis;
  Grid grid{.title = ladder_title(ladder),
            .headings = {"arm", sizes ? "size" : config::last_key(ladder.axis)}};
  if (sizes) grid.headings.emplace_back("parameters");
  grid.headings.insert(grid.headings.end(),
                       {"n", analysis::display_name(ladder.metric), "difference", "p (corrected)"});
  if (!sizes) grid.headings.emplace_back("best seeds");
  for (const auto& arm : ladder.arms) {
    for (size_t i = 0; i < ladder.rungs.size(); ++i) {
      const auto& rung = ladder.rungs[i];
      const auto& score = arm.scores[i];
      GridRow row{{i == 0 ? arm.name : ""}, {rung.label}};
      if (sizes)
        row.push_back({std::isnan(rung.x) ? "-" : analysis::count_figure(std::llround(rung.x))});
      row.push_back({std::to_string(score.count)});
      row.push_back({with_interval(analysis::mean_figure(score, ladder.metric), score.interval,
                                   ladder.metric)});
      const bool compared = i < arm.effects.size();
      row.push_back(
          {compared ? with_interval(analysis::format_metric(arm.effects[i].mean, ladder.metric),
                                    arm.effects[i].interval, ladder.metric)
                    : "baseline"});
      row.push_back({compared ? analysis::p_figure(arm.p[i]) : ""});
      if (!sizes) row.push_back({i < arm.best_at.size() ? std::to_string(arm.best_at[i]) : "-"});
      grid.rows.push_back(std::move(row));
    }
    if (!arm.sentence.empty()) grid.note += (grid.note.empty() ? "" : " ") + arm.sentence;
  }
  if (!grid.note.empty()) grid.note += " " + std::string(kLadderCorrection);
  return grid;
}

}  // namespace ablate::report
