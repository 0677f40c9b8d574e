#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "experiments/analysis/figure.h"
#include "experiments/report/number.h"
#include "experiments/report/page/sections.h"
#include "training/observe_options.h"

namespace ablate::report {
namespace {

constexpr size_t kMostDrawn = 100;       // points of one of the many lines
constexpr size_t kMostDrawnOfHead = 24;  // points of a head's line
constexpr size_t kMostHeadCharts = 24;   // of one run

/// "decoder.0.cross" of "decoder.layers.0.cross_attention": what fits beside a line.
std::string short_place(std::string place) {
  for (const auto& [part, shorter] : {std::pair<std::string, std::string>{".layers.", "."},
                                      {".attention", ""},
                                      {".cross_attention", ".cross"},
                                      {".feed_forward", ""}})
    if (const auto at = place.find(part); at != std::string::npos)
      place.replace(at, part.size(), shorter);
  return place;
}

LineChart chart_of(const std::string& what, const std::string& title) {
  return {.title = title, .x_label = "step", .y_label = analysis::spoken(what), .lines = {}};
}

void add_curve(std::vector<Point> points, const std::string& name, Look look, LineChart& chart) {
  if (!points.empty())
    chart.lines.push_back({.name = name, .look = look, .points = std::move(points), .spread = {}});
}

/// The first run of every arm.
std::vector<const RunRecord*> observed_runs(const TaskView& view) {
  std::vector<const RunRecord*> runs;
  for (const auto& arm : view.task.arms)
    if (const auto all = view.runs_of(arm.name); !all.empty()) runs.push_back(all.front());
  return runs;
}

/// A line for each place in a run's model.
Markup curves_of_places(const RunRecord& run, const std::string& what) {
  auto chart = chart_of(what, fmt::format("{}: {}", run.arm, analysis::spoken(what)));
  for (const auto& figure : run.observed)
    if (figure.what == what)
      add_curve(thinned(figure.points, kMostDrawn), short_place(figure.place), {chart.lines.size()},
                chart);
  if (chart.lines.empty()) return {};
  return figure(chart, fmt::format("Seed {}.", run.seed));
}

/// A line for each arm, of what is said of whole models.
Markup curves_of_arms(const TaskView& view, const std::string& what) {
  auto chart = chart_of(what, analysis::spoken(what));
  for (const auto* run : observed_runs(view))
    for (const auto& figure : run->observed)
      if (figure.what == what)
        add_curve(thinned(figure.points, kMostDrawn), run->arm, view.looks.of(run->arm), chart);
  if (chart.lines.empty()) return {};
  return figure(chart, "Of each arm's first seed, in target tokens.");
}

/// A line for each head of one attention.
Markup curves_of_heads(const ObservedFigure& observed, int64_t seed) {
  auto chart =
      chart_of(observed.what, fmt::format("{}: {} of each head", short_place(observed.place),
                                          analysis::spoken(observed.what)));
  for (size_t i = 0; i < observed.heads.size(); ++i)
    add_curve(thinned(observed.heads[i], kMostDrawnOfHead), fmt::format("head {}", i + 1), {i},
              chart);
  if (chart.lines.empty()) return {};
  return figure(chart, fmt::format("Seed {}.", seed));
}

/// Every head of one run's attentions, a chart for each figure of each, as far as a page bears it.
Markup heads_of(const RunRecord& run) {
  std::vector<const ObservedFigure*> all;
  for (const auto& figure : run.observed)
    if (figure.heads.size() > 1 && figure.points.size() > 1) all.push_back(&figure);
  if (all.empty()) return {};
  Markup drawn, rest;
  for (const auto* figure : std::span(all).first(std::min(all.size(), kMostHeadCharts)))
    drawn += curves_of_heads(*figure, run.seed);
  if (all.size() > kMostHeadCharts)
    rest =
        paragraph("muted", fmt::format("These are the first {} of {} charts; the others' numbers "
                                       "are in the run's metrics.jsonl.",
                                       kMostHeadCharts, all.size()));
  return folded(fmt::format("Heads of {}, seed {}", run.arm, run.seed), figures(drawn) + rest);
}

/// The last figures of one run, a row for each place and what was observed there.
Markup last_figures(const RunRecord& run) {
  size_t most = 0;
  for (const auto& figure : run.observed) most = std::max(most, figure.heads.size());
  Markup head = column_heading("place") + column_heading("observed") + number_heading("value"),
         rows;
  for (size_t i = 0; i < most; ++i) head += number_heading(fmt::format("head {}", i + 1));
  for (const auto& figure : run.observed) {
    auto cells = row_heading(text(figure.place)) + report::cell(analysis::spoken(figure.what)) +
                 number_cell(plain(figure.points.back().y));
    for (size_t i = 0; i < most; ++i)
      cells += number_cell(i < figure.heads.size() ? plain(figure.heads[i].back().y) : "");
    rows += row(cells);
  }
  const auto name = fmt::format("Last observation of {}, after step {}", run.arm,
                                plain(run.observed.back().points.back().x));
  return folded(name, scrolled(name, table(row(head), rows)));
}

}  // namespace

Markup observations(const TaskView& view) {
  Markup drawn, tables;
  for (const auto& [what, word] : training::names(training::Observable{})) {
    if (what == training::Observable::gradient_noise)
      drawn += curves_of_arms(view, std::string(word));
    else
      for (const auto* run : observed_runs(view))
        drawn += curves_of_places(*run, std::string(word));
  }
  for (const auto* run : observed_runs(view))
    if (!run->observed.empty()) tables += heads_of(*run) + last_figures(*run);
  if (tables.empty()) return tables;
  return heading("h3", "", "Inside the models") +
         paragraph(
             "",
             "What training.observe saw: entropy (nats) and first key of every attention (the mean "
             "over its heads), how far positions differ behind every layer (0: not at all), "
             "active neurons, the size of updates in relation to the weights, and the "
             "gradient's noise scale. Values stand beside the layer's number, from 0 on.") +
         figures(drawn) + tables;
}

}  // namespace ablate::report
