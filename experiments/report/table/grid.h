#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/report/chart/strip.h"

namespace ablate::report {

/// What the cells of a column are, and so how each form sets them.
enum class Holds {
  arms,         // names of arms; texts leave out one that the row above has, too
  names,        // of tasks and test sets
  words,        // remarks and verdicts
  figures,      // one number
  differences,  // figures that are differences from the baseline
  strips,       // pictures, which only a page has
};

/// What the short tables of a terminal have of a column.
enum class Brief { nothing, first_lines, all };

struct GridColumn {
  std::string heading;
  std::string qualifier = "";  // "corrected": goes on with the heading
  std::string below = "";      // heads the second lines of its cells
  Holds holds = Holds::figures;
  Brief brief = Brief::all;
  bool narrow = true;  // is in a table of a narrow page

  /// Names stand at the left of their columns, figures at the right.
  bool is_left() const { return holds == Holds::arms || holds == Holds::names; }
};

struct GridCell {
  std::string text;
  std::string below = "";  // a second line: the interval of a figure, the outcome of a claim
  bool best = false;       // the best mean of its column on its test set
  bool spans = false;      // the rest of its row, which is empty
  std::optional<analysis::Verdict> verdict = {};  // that the text names
  std::optional<Strip> strip = {};                // still without a look
};

using GridRow = std::vector<GridCell>;

/// A table of evidence: its texts are escaped, and its strips drawn, when a form of the report is
/// written.
struct Grid {
  std::string title;
  std::vector<GridColumn> columns;
  std::vector<GridRow> rows;
  std::string note = "";  // sentences below it
};

/// Without the columns that have nothing in any row, but with those of names.
Grid without_empty_columns(const Grid& grid);

// The tables, each built here alone; all forms of the report render these values.

/// An arm and a test set a row, a metric a column: those of tables, or all of them.
Grid score_grid(const analysis::TaskEvidence& task, bool all_metrics);

/// The leading metric of an arm on a test set in each row, and its difference from the baseline.
/// The first columns are the arm and the test set.
Grid contrast_grid(const analysis::Evidence& evidence, const analysis::TaskEvidence& task);

/// The deviations that each kind of crossed seeds adds; without rows if the seeds are not crossed.
Grid component_grid(const analysis::TaskEvidence& task);

Grid cost_grid(const analysis::TaskEvidence& task);

/// What each arm needs to reach the target; without rows if the study has none.
Grid ratio_grid(const analysis::TaskEvidence& task);

/// The scores and differences of each arm at each rung, with its sentence.
Grid ladder_grid(const analysis::Ladder& ladder);

/// REQUIRES: there are aggregates.
Grid aggregate_grid(const analysis::Evidence& evidence);

/// The chosen values of each arm. REQUIRES: the study tunes keys.
Grid tuning_grid(const analysis::Evidence& evidence);

/// Every combination that was tried, with the score of each seed. REQUIRES: the study tunes keys.
Grid tried_grid(const analysis::Evidence& evidence);

/// The leading metric of every run.
Grid seed_grid(const analysis::Evidence& evidence, const analysis::TaskEvidence& task);

/// Without rows if no outputs were compared.
Grid sentence_grid(const analysis::TaskEvidence& task);

/// "Over sizes: copy, BLEU on test"; "Over training.schedule.peak: copy (small), ...".
std::string ladder_title(const analysis::Ladder& ladder);

/// What is corrected in a ladder.
inline constexpr const char* kLadderCorrection =
    "Differences have the corrected p and intervals of their verdicts. Slopes, interactions and "
    "best values are each corrected for the arms of this ladder, but not for other ladders.";

/// "2 tasks", "2 tasks in 6 settings"
std::string pooled_words(const analysis::Aggregate& aggregate);

/// The metric that reports lead with: the declared one, or else the first.
std::string leading_metric(const analysis::TaskEvidence& task);

/// "length 12 (beyond)"
std::string test_set_name(const analysis::Cell& cell);

/// "0.800 ± 0.141"; without a deviation for fewer than two seeds and for bounds; a dash without
/// such a cell.
GridCell score_cell(const analysis::ArmEvidence& arm, const std::string& test_set,
                    const std::string& metric);

inline constexpr size_t kScreen = 100;  // columns of a terminal

/// The ladders; for each task its scores, with a baseline its differences, with crossed seeds
/// their components of variance, its costs and with compare.cost_to the costs to the target; then
/// the arms over tasks, and the values that tuning chose. As texts show them: without strips,
/// second lines beside the first.
std::vector<Grid> grids_of(const analysis::Evidence& evidence);

/// What a terminal shows: the ladders without their sentences, and of each task, with a baseline
/// the verdicts and with crossed seeds their components of variance, then the means of the metric
/// of the claims, an arm a row, and the values that tuning chose, all at most kScreen columns wide.
/// Second lines have columns of their own, and test sets that do not fit are left out.
std::vector<Grid> short_grids_of(const analysis::Evidence& evidence);

/// "holds: text (numbers)" of each expectation, why runs are missing, and the notes.
std::vector<std::string> remarks_of(const analysis::Evidence& evidence);

}  // namespace ablate::report
