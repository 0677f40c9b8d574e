#pragma once

#include "experiments/evidence/evidence.h"
#include "experiments/evidence/study_runs.h"

namespace ablate::experiments {

/// Writes the results into the study's folder: results.jsonl, a line for each finished run, and
/// the evidence as results.csv, results.json, table.txt, table.md and table.tex. Throws IoError.
void write_tables(const Evidence& evidence, const StudyRuns& runs);

}  // namespace ablate::experiments
