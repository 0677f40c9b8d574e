#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {

/// One run, or the seeds of one arm of a study.
struct ComparedRuns {
  std::string name;  // task/arm[/seed-n]; the folder where two columns would be called the same
  int64_t runs = 1;
};

/// A key of the configuration; empty where a column has no such key.
struct ComparedKey {
  std::string path;
  std::vector<std::string> values;  // a value for each column
  bool differs = false;
};

/// A score, means over the runs of a column; NaN where a column has none.
struct ComparedScore {
  std::string test_set;  // empty: of training, validation or the model
  std::string metric;
  config::Direction direction = config::Direction::neither;
  std::vector<double> values;
};

/// Runs side by side.
struct RunComparison {
  std::vector<ComparedRuns> columns;
  std::vector<ComparedKey> keys;
  std::vector<ComparedScore> scores;
  bool same_tokens = true;  // all columns cut the targets into the same tokens
  bool same_data = true;    // of those columns that were measured on a test set of the same name
};

/// A folder of a run is a column; of any other folder each arm below is one, its finished seeds
/// together. Throws UsageError where a folder holds no finished run.
RunComparison compare_runs(const std::vector<std::filesystem::path>& folders);

/// Rows for keys, only those that differ unless `all`, then rows for scores.
Grid grid_of(const RunComparison& comparison, bool all);

std::string json_of(const RunComparison& comparison);

}  // namespace ablate::report
