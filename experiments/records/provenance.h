#pragma once

#include <set>
#include <string>

#include "experiments/records/folders.h"

namespace ablate::records {

/// The origin of a study's numbers, over all finished runs, those of a search for an arm's best
/// values included.
struct Provenance {
  std::set<std::string> commits;   // of the programs that ran them
  std::set<std::string> hardware;  // hardware_of() each
  double core_seconds = 0;         // of training, times the threads
  std::string study_sha256;        // of study.yaml; empty if there is no folder
  std::set<std::string> data_sha256;
};

/// Throws CheckpointError if a record of a run is damaged.
Provenance provenance_of(const StudyFolder& folder);

}  // namespace ablate::records
