#pragma once

#include "experiments/config/study.h"
#include "experiments/records/folders.h"
#include "experiments/report/report_data.h"

namespace ablate::report {

/// What the run folders of `study` below `folder` hold for its report: curves, expert load,
/// accuracy over positions, sample outputs, configuration, environment and commands. What a run has
/// not written is left out. Throws CheckpointError where a file is damaged, IoError where one
/// cannot be read.
ReportData read_report_data(const config::Study& study, const records::StudyFolder& folder);

}  // namespace ablate::report
