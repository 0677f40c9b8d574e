#pragma once

#include <filesystem>

#include "experiments/config/study.h"
#include "experiments/evidence/evidence.h"
#include "experiments/records/folders.h"

namespace ablate::experiments {

/// Writes report.html into the study's folder and returns its path. Throws CheckpointError where a
/// file of a run is damaged, IoError where one cannot be read or written.
std::filesystem::path write_report(const Study& study, const Evidence& evidence,
                                   const StudyFolder& folder);

}  // namespace ablate::experiments
