#pragma once

#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"
#include "experiments/records/result.h"
#include "experiments/report/report_data.h"

namespace ablate::report {

/// Writes the tables of a study, a line of results for each of its runs, the plot of its
/// differences if it has any, and the page with the pictures of its position schemes, all into its
/// folder. Throws IoError, and CheckpointError if a
/// file of a run is damaged.
void write_report(const config::Study& study, const records::StudyRuns& runs,
                  const analysis::Evidence& evidence, std::vector<PositionPicture> positions);

/// The records of the runs of `study` below `folder` for its report: curves, expert load, accuracy
/// over positions, sample outputs, configuration, environment and commands. Files that a run has
/// not written are left out. Throws CheckpointError if a file is damaged, IoError if one cannot be
/// read.
ReportData read_report_data(const config::Study& study, const records::StudyFolder& folder);

}  // namespace ablate::report
