#pragma once

#include <string>

#include "experiments/analysis/together.h"
#include "experiments/report/chart/forest.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {

/// An arm a row: its settings, tau, and at each size the mean with its interval, the prediction
/// interval and the verdict.
Grid together_grid(const analysis::Together& together);

/// A row for each claim that was decided, with its q among all that count; else no rows.
Grid claims_grid(const analysis::Together& together);

/// The differences of every setting, and the predictions, a group for each arm.
Forest together_forest(const analysis::Together& together);

/// The same as json_table().
std::string together_json(const analysis::Together& together);

}  // namespace ablate::report
