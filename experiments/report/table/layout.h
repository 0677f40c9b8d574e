#pragma once

#include <string>

#include "experiments/analysis/evidence.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {

/// A text whose lines are broken between words to fit the screen; further parts of a line begin
/// with `indent`.
std::string wrapped(const std::string& text, const std::string& indent = "");

/// The grid in columns under its title, best cells with a star, its note below.
std::string layout(const Grid& grid);
std::string pipe_table(const Grid& grid);  // of Markdown
std::string tabular(const Grid& grid);     // of LaTeX

// The same evidence in several forms. Every text of the user is escaped as its form needs.

/// Text for a terminal: question, answer, the verdicts and the metric of the claims in tables of at
/// most 100 columns, expectations and notes, and where the rest is. Without control characters.
std::string terminal_table(const analysis::Evidence& evidence);

/// The same with every metric and test set, as wide as it needs.
std::string text_table(const analysis::Evidence& evidence);

/// The same with pipe tables.
std::string markdown_table(const analysis::Evidence& evidence);

/// Only the tables, a booktabs tabular each; needs \usepackage{booktabs} and UTF-8 input.
std::string latex_table(const analysis::Evidence& evidence);

/// One line for each task, arm, test set and metric, with a column for each seed (RFC 4180, but
/// with line ends "\n"). Missing values are empty.
std::string csv_table(const analysis::Evidence& evidence);

/// Everything, as members of the same names. Numbers that JSON cannot hold are the strings "NaN",
/// "Infinity" and "-Infinity".
std::string json_table(const analysis::Evidence& evidence);

}  // namespace ablate::report
