#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::report {

struct GridCell {
  std::string text;
  bool best = false;  // the best mean of its column on its test set
};

using GridRow = std::vector<GridCell>;

/// A table of texts, escaped when it is written.
struct Grid {
  std::string title;
  std::vector<std::string> headings;
  std::vector<GridRow> rows;
  std::string note;  // a sentence below it
  size_t names = 2;  // leading columns that hold names, the others hold figures
};

/// For each task its scores and, with a baseline, its differences; then the arms over tasks, and
/// the values that tuning tried.
std::vector<Grid> grids_of(const analysis::Evidence& evidence);

/// "holds: text (numbers)" of each expectation, why runs are missing, and the notes.
std::vector<std::string> remarks_of(const analysis::Evidence& evidence);

}  // namespace ablate::report
