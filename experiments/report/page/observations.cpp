#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "experiments/analysis/figure.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"
#include "training/observe_options.h"

namespace ablate::report {
namespace {

constexpr size_t kMostDrawn = 100;       // points of one of the many lines
constexpr size_t kMostDrawnOfHead = 24;  // points of a head's line
constexpr size_t kMostHeadCharts = 24;   // of one run

/// "decoder.0.cross" of "decoder.layers.0.cross_attention": a name short enough for a chart.
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
  return {.title = title, .x_label = "step", .y_label = analysis::display_name(what)};
}

void add_curve(std::vector<Point> points, const std::string& name, Look look, LineChart& chart) {
  if (!points.empty())
    chart.lines.push_back({.name = name, .look = look, .points = std::move(points)});
}

/// The first run of every arm.
std::vector<const RunRecord*> first_runs_of_arms(const TaskView& view) {
  std::vector<const RunRecord*> runs;
  for (const auto& arm : view.task.arms)
    if (const auto all = view.runs_of(arm.name); !all.empty()) runs.push_back(all.front());
  return runs;
}

/// A line for each place in a run's model.
Markup curves_of_places(const RunRecord& run, const std::string& what) {
  auto chart = chart_of(what, fmt::format("{}: {}", run.arm, analysis::display_name(what)));
  for (const auto& figure : run.observed)
    if (figure.what == what)
      add_curve(thinned(figure.points, kMostDrawn), short_place(figure.place), {chart.lines.size()},
                chart);
  return figure(chart, fmt::format("Seed {}.", run.seed));
}

/// A line for each arm, of a quantity of whole models.
Markup curves_of_arms(const TaskView& view, const std::string& what) {
  auto chart = chart_of(what, analysis::display_name(what));
  for (const auto* run : first_runs_of_arms(view))
    for (const auto& figure : run->observed)
      if (figure.what == what)
        add_curve(thinned(figure.points, kMostDrawn), run->arm, view.looks.of(run->arm), chart);
  return figure(chart, "Of each arm's first seed, in target tokens.");
}

/// A line for each head of one attention.
Markup curves_of_heads(const ObservedFigure& observed, int64_t seed) {
  auto chart =
      chart_of(observed.what, fmt::format("{}: {} of each head", short_place(observed.place),
                                          analysis::display_name(observed.what)));
  for (size_t i = 0; i < observed.heads.size(); ++i)
    add_curve(thinned(observed.heads[i], kMostDrawnOfHead), fmt::format("head {}", i), {i}, chart);
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

/// The last observations of one run, a row for each place and quantity.
Markup last_figures(const RunRecord& run) {
  size_t most = 0;
  for (const auto& figure : run.observed) most = std::max(most, figure.heads.size());
  Markup head = column_heading("place") + column_heading("observed") + number_heading("value"),
         rows;
  for (size_t i = 0; i < most; ++i) head += number_heading(fmt::format("head {}", i));
  for (const auto& figure : run.observed) {
    auto cells = row_heading(text(figure.place)) + cell(analysis::display_name(figure.what)) +
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
      for (const auto* run : first_runs_of_arms(view))
        drawn += curves_of_places(*run, std::string(word));
  }
  for (const auto* run : first_runs_of_arms(view))
    if (!run->observed.empty()) tables += heads_of(*run) + last_figures(*run);
  if (tables.empty()) return tables;
  return heading("h3", "Inside the models") +
         paragraph(
             "",
             "Quantities of training.observe: entropy (nats) and share of the first key of "
             "every attention (the mean over its heads), difference between positions after "
             "every layer (0: none), active neurons, the size of updates relative to the "
             "weights, and the gradient's noise scale. Layers and heads are numbered from 0 on.") +
         figures(drawn) + tables;
}

namespace {

constexpr double kFull = 4;           // times the even load that has full colour
constexpr size_t kMostColumns = 200;  // of a picture: further steps are left out evenly

std::vector<size_t> kept_steps(size_t steps) {
  std::vector<size_t> kept;
  const size_t count = std::min(steps, kMostColumns);
  for (size_t i = 0; i < count; ++i) kept.push_back(i * steps / count);
  return kept;
}

/// A row for an expert, a column for a step.
HeatMap map_of(const ExpertLoad& load, const std::string& title) {
  HeatMap map{.title = title,
              .x_label = "step",
              .y_label = "expert",
              .shades = Shades::growing,
              .full = kFull / static_cast<double>(load.shares.back().size()),
              .x_first = load.steps.front(),
              .x_last = load.steps.back()};
  const size_t experts = load.shares.back().size();
  map.rows.resize(experts);
  for (const size_t step : kept_steps(load.steps.size()))
    for (size_t i = 0; i < experts; ++i)
      map.rows[i].push_back(i < load.shares[step].size() ? load.shares[step][i] : std::nan(""));
  for (size_t i = 0; i < experts; ++i)
    map.row_titles.push_back(
        fmt::format("expert {}: {} of all choices at the end", i, fixed(load.shares.back()[i], 3)));
  return map;
}

Markup last_shares(const ExpertLoad& load) {
  Markup head, cells;
  for (size_t i = 0; i < load.shares.back().size(); ++i) {
    head += number_heading(fmt::format("expert {}", i));
    cells += number_cell(fixed(load.shares.back()[i], 3));
  }
  return folded("Shares at the last record",
                scrolled("Shares of " + load.module, table(row(head), row(cells))));
}

Markup draw_load(const RunRecord& run, const ExpertLoad& load) {
  if (load.steps.empty() || load.shares.back().empty()) return {};
  const auto title = fmt::format("{}: {}", run.arm, load.module);
  const auto even = 1.0 / static_cast<double>(load.shares.back().size());
  auto words = fmt::format(" Seed {}; an even load is {} each", run.seed, fixed(even, 3));
  if (!load.entropy.empty())
    words += fmt::format(", the router's entropy ends at {} of at most {} nats",
                         fixed(load.entropy.back(), 2), fixed(-std::log(even), 2));
  return element("figure", {{"class", "small"}},
                 caption(title, words + ".") +
                     draw(map_of(load, "Share of choices of every expert, " + title)) +
                     last_shares(load));
}

}  // namespace

Markup expert_loads(const TaskView& view) {
  Markup all;
  for (const auto* run : first_runs_of_arms(view))
    for (const auto& load : run->experts) all += draw_load(*run, load);
  if (all.empty()) return all;
  return heading("h3", "Load of the experts") +
         paragraph(
             "",
             "Which share of the choices each expert got over training: darker is more, up to "
             "four times an even share.") +
         element("div", {{"class", "figures small"}}, all);
}

}  // namespace ablate::report
