#pragma once

#include <filesystem>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study.h"
#include "experiments/records/study_runs.h"
#include "experiments/report/report_data.h"

namespace ablate::report {

/// Writes the tables of a study, a line of results for each of its runs, and the page with the
/// pictures of its position schemes, all into its folder. Throws IoError, and CheckpointError where
/// a file of a run is damaged.
void write_report(const config::Study& study, const records::StudyRuns& runs,
                  const analysis::Evidence& evidence, std::vector<PositionPicture> positions);

}  // namespace ablate::report
