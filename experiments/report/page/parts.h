#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/report/chart/line_chart.h"
#include "experiments/report/markup.h"
#include "experiments/report/report_data.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {

// The parts that the sections of the page consist of.

Markup heading(const char* level, const std::string& words);
/// Empty without words.
Markup paragraph(const char* kind, const std::string& words);
Markup cell(const std::string& words);
Markup number_cell(const std::string& words);
Markup column_heading(const std::string& words);
Markup number_heading(const std::string& words);
Markup row_heading(const Markup& content);
Markup row(const Markup& cells);

/// A key's value, which one side may lack.
std::string or_absent(const std::string& value);

/// A key path that may go on in a new line after each dot.
Markup breakable(const std::string& path);

/// A table that scrolls sideways inside its own box if it is too wide.
Markup scrolled(const std::string& name, const Markup& table);
Markup table(const Markup& head_rows, const Markup& body_rows);

/// Content behind a line that opens it; empty without content.
Markup folded(const std::string& summary, const Markup& content);

/// A sign beside the words of a verdict.
const char* sign_of(analysis::Verdict verdict);

/// Empty without a baseline.
std::string baseline_name(const analysis::TaskEvidence& task);

/// The numbers of a chart: a row for an x, at most 15 of them, and a column for a line.
Markup table_of(const LineChart& chart);

/// The title and the words above a picture.
Markup caption(const std::string& title, const std::string& words);

/// A chart under its title, with an explanation and its numbers as a folded table; empty without
/// lines.
Markup figure(const LineChart& chart, const std::string& explanation);

/// Figures side by side if there is room.
Markup figures(const Markup& content);

/// The look of every arm of the study: the same on the whole page.
class Looks {
 public:
  explicit Looks(const analysis::Evidence& evidence);
  Look of(const std::string& arm) const;
  /// An arm's name behind its line and marker.
  Markup named(const std::string& arm) const;
  Markup legend(const std::vector<std::string>& arms) const;

 private:
  std::vector<std::string> arms_;
};

// A table of evidence as a page shows it; its leading columns are those of names.

/// The ends of the axis of each column of strips, and nothing of the other columns.
std::vector<Markup> axes_of(const Grid& grid);

/// The headings behind the names, each with its axis if there are `axes`.
Markup column_heads(const Grid& grid, const std::vector<Markup>& axes = {});

/// The cells behind the names of each row.
std::vector<Markup> row_cells(const Grid& grid, const Looks& looks);

/// The whole grid without its note; empty without rows.
Markup grid_table(const Grid& grid, const Looks& looks);

/// Everything that belongs to one task.
struct TaskView {
  const analysis::Evidence& evidence;
  const analysis::TaskEvidence& task;
  const ReportData& data;
  const Looks& looks;

  std::vector<const RunRecord*> runs_of(const std::string& arm) const;
};

/// At most `most` of `count` places, evenly spaced, with the first and the last.
std::vector<size_t> evenly_spaced(size_t count, size_t most);

/// Every test set of the task once; "" is training and validation.
std::vector<std::string> test_sets(const analysis::TaskEvidence& task);

/// The page's style sheet: light and dark, narrow and printed.
std::string style_sheet();

}  // namespace ablate::report
