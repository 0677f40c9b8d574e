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

/// Letters of a terminal: a multi-byte sign counts once.
size_t width(const std::string& text);

/// A table of texts, escaped when it is written.
struct Grid {
  std::string title;
  std::vector<std::string> headings;
  std::vector<GridRow> rows;
  std::string note;  // a sentence below it
  size_t names = 2;  // leading columns that hold names, the others hold figures
};

/// The ladders; for each task its scores, with a baseline its differences, its costs and with
/// compare.cost_to the costs to the target; then the arms over tasks, and the values that tuning
/// tried.
std::vector<Grid> grids_of(const analysis::Evidence& evidence);

/// "Over sizes: copy, BLEU on test"; "Over training.schedule.peak: copy (small), ...".
std::string ladder_title(const analysis::Ladder& ladder);

/// What is corrected in a ladder.
inline constexpr const char* kLadderCorrection =
    "Differences have the corrected p and intervals of their verdicts. Slopes, interactions and "
    "best "
    "values are each corrected for the arms of this ladder, but not for other ladders.";

/// The scores and differences of each arm at each rung, with its sentence.
Grid ladder_grid(const analysis::Ladder& ladder);

/// What a terminal shows: the ladders without their sentences, and of each task, with a baseline
/// the verdicts, then the means of the metric of the claims, an arm a row, all at most 100 columns
/// wide. Test sets that do not fit are left out.
std::vector<Grid> short_grids_of(const analysis::Evidence& evidence);

/// "holds: text (numbers)" of each expectation, why runs are missing, and the notes.
std::vector<std::string> remarks_of(const analysis::Evidence& evidence);

}  // namespace ablate::report
