#pragma once

#include <string>

#include "experiments/analysis/evidence.h"

namespace ablate::report {

// The same evidence in five forms. Every text of the user is escaped as its form needs.

/// For a terminal: question, answer, tables, expectations and notes. No control character.
std::string terminal_table(const analysis::Evidence& evidence);

/// The same with pipe tables.
std::string markdown_table(const analysis::Evidence& evidence);

/// The tables alone, a booktabs tabular each; needs \usepackage{booktabs} and UTF-8 input.
std::string latex_table(const analysis::Evidence& evidence);

/// One line for each task, arm, test set and metric, with a column for each seed (RFC 4180, but for
/// its line ends, which are "\n"). What is not there is empty.
std::string csv_table(const analysis::Evidence& evidence);

/// Everything, as members of the same names. Numbers that JSON cannot hold are the strings "NaN",
/// "Infinity" and "-Infinity".
std::string json_table(const analysis::Evidence& evidence);

}  // namespace ablate::report
