#include <fmt/format.h>

#include "experiments/analysis/figure.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

std::string crossed(int64_t initializations, int64_t orders) {
  return fmt::format("{} x {}", initializations, orders);
}

std::vector<GridColumn> component_columns(const analysis::SeedComponents& first) {
  return {{.heading = "arm", .holds = Holds::arms},
          {.heading = "test set", .holds = Holds::names},
          {.heading = "of", .holds = Holds::names},
          {.heading = "initialization"},
          {.heading = "order"},
          {.heading = "rest"},
          {.heading = "error", .qualifier = crossed(first.initializations, first.orders)},
          {.heading = "error", .qualifier = "own seeds"},
          {.heading = "best split", .brief = Brief::nothing}};
}

}  // namespace

Grid component_grid(const analysis::TaskEvidence& task) {
  Grid grid{.title = task.name + ": components of variance"};
  if (task.components.empty()) return grid;
  const auto& first = task.components.front();
  grid.title += " of " + analysis::display_name(first.metric);
  grid.columns = component_columns(first);
  grid.note =
      "Standard deviations between runs that differ only in their initial values, or in the order "
      "of the data and all else that is random, and what neither adds alone. The errors are the "
      "mean's: of these runs, and of as many that share no seed. ";
  for (const auto& one : task.components) {
    const auto figure = [&](double value) {
      return GridCell{analysis::format_metric(value, one.metric)};
    };
    grid.rows.push_back({{one.arm},
                         {one.test_set},
                         {one.difference ? "difference" : "value"},
                         figure(one.initialization),
                         figure(one.order),
                         figure(one.rest),
                         figure(one.error),
                         figure(one.own_error),
                         {crossed(one.best_initializations, one.best_orders)}});
    grid.note += one.sentence + " ";
  }
  grid.note.pop_back();
  return grid;
}

}  // namespace ablate::report
