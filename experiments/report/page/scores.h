#pragma once

#include <string>
#include <vector>

#include "experiments/report/chart/heat_map.h"
#include "experiments/report/page/parts.h"

namespace ablate::report {

struct ScoreRow {
  const analysis::ArmEvidence* arm;
  const analysis::Cell* cell;
};

/// The rows of one metric on one test set.
struct ScoreGroup {
  std::string test_set, metric;
  std::vector<ScoreRow> rows;  // arms that have the cell
  Extent values, differences;  // of all rows: strips of a column share an axis
  bool contrasted = false;     // a row is compared with the baseline
  bool counted = false;        // a row has a success rate
  bool extrapolates = false;
};

ScoreGroup group_of(const TaskView& view, const std::string& test_set, const std::string& metric);

Strip value_strip(const TaskView& view, const ScoreRow& row);

/// REQUIRES: the row has a contrast.
Strip difference_strip(const TaskView& view, const ScoreRow& row);

}  // namespace ablate::report
