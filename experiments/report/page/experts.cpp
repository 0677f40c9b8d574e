#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/number.h"
#include "experiments/report/page/sections.h"

namespace ablate::report {
namespace {

constexpr double kFull = 4;           // times the even load that has full colour
constexpr size_t kMostColumns = 200;  // of a picture: more steps than that are left out evenly

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
              .rows = {},
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
                 element("figcaption", {}, element("strong", {}, text(title)) + text(words + ".")) +
                     draw(map_of(load, "Share of choices of every expert, " + title)) +
                     last_shares(load));
}

}  // namespace

Markup expert_loads(const TaskView& view) {
  Markup all;
  for (const auto& arm : view.task.arms) {
    const auto runs = view.runs_of(arm.name);
    if (runs.empty()) continue;
    for (const auto& load : runs.front()->experts) all += draw_load(*runs.front(), load);
  }
  if (all.empty()) return all;
  return heading("h3", "", "Load of the experts") +
         paragraph(
             "",
             "Which share of the choices each expert got over training: darker is more, up to "
             "four times an even share.") +
         element("div", {{"class", "figures small"}}, all);
}

}  // namespace ablate::report
