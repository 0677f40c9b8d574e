
#include <algorithm>
#include <cmath>

#include "experiments/analysis/figure.h"
#include "experiments/config/schema/option.h"
#include "experiments/report/page/page.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

/// The means of samples over the rungs, with their intervals.
Line line_over(const analysis::Ladder& ladder, const std::vector<analysis::Sample>& samples) {
  Line line;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!std::isfinite(samples[i].mean)) continue;
    const double mean = samples[i].mean;
    line.points.push_back({ladder.rungs[i].x, mean});
    line.spread.push_back(samples[i].interval.value_or(statistics::Interval{mean, mean}));
  }
  return line;
}

/// A chart over the axis of the ladder, still without lines.
LineChart chart_over(const analysis::Ladder& ladder) {
  std::vector<double> xs;
  for (const auto& rung : ladder.rungs) xs.push_back(rung.x);
  return {.title = "",
          .x_label = ladder.axis == analysis::kSizeAxis ? "parameters of the baseline"
                                                        : config::last_key(ladder.axis),
          .y_label = analysis::display_name(ladder.metric),
          .logarithmic_x = ladder.logarithmic,
          .x_ticks = xs};
}

Markup figure_of_lines(const LineChart& chart, const std::string& explanation) {
  const bool several =
      std::ranges::any_of(chart.lines, [](const Line& line) { return line.points.size() > 1; });
  return several ? figure(chart, explanation) : Markup();
}

struct Charts {
  LineChart effects, scores;
};

Charts charts_of(const analysis::Ladder& ladder, const Looks& looks) {
  Charts charts{chart_over(ladder), chart_over(ladder)};
  auto& [effects, scores] = charts;
  effects.title = "Difference from the baseline";
  effects.y_label += ", arm minus baseline";
  effects.zero_line = true;
  scores.title = analysis::display_name(ladder.metric);
  for (const auto& arm : ladder.arms) {
    const auto add = [&](LineChart& chart, const std::vector<analysis::Sample>& samples) {
      auto line = line_over(ladder, samples);
      line.name = arm.name;
      line.look = looks.of(arm.name);
      if (!line.points.empty()) chart.lines.push_back(std::move(line));
    };
    add(effects, arm.effects);
    add(scores, arm.scores);
  }
  return charts;
}

void take(Extent& extent, const LineChart& chart) {
  const auto other = chart.y_extent();
  if (!other.any()) return;
  extent.take({other.low(), other.high()});
}

/// The charts of one of the ladders, to the scales of all with its metric: equal differences look
/// equal.
Markup charts(const analysis::Ladder& ladder, std::span<const analysis::Ladder> all,
              const Looks& looks) {
  if (std::ranges::any_of(ladder.rungs, [](const auto& rung) { return std::isnan(rung.x); }))
    return {};
  auto [effects, scores] = charts_of(ladder, looks);
  for (const auto& other : all) {
    if (other.metric != ladder.metric) continue;
    const auto beside = charts_of(other, looks);
    take(effects.shared_y, beside.effects);
    take(scores.shared_y, beside.scores);
  }
  return figures(figure_of_lines(effects,
                                 "Mean over seeds; the band is the 95 % interval of the verdict, "
                                 "corrected for all comparisons of the task.") +
                 figure_of_lines(scores, "Mean over seeds; the band is its 95 % interval."));
}

}  // namespace

Markup ladder(const analysis::Ladder& ladder, std::span<const analysis::Ladder> all,
              const Looks& looks) {
  auto content = charts(ladder, all, looks);
  for (const auto& arm : ladder.arms) content += paragraph("", arm.sentence);
  return content + grid_table(ladder_grid(ladder), looks) + paragraph("muted", kLadderCorrection);
}

}  // namespace ablate::report
