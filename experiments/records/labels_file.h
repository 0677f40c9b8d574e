#pragma once

#include "experiments/records/folders.h"

namespace ablate::records {

/// The classes of a model with a label head, in its run's folder and inside a checkpoint or an
/// exported model.
inline constexpr const char* kLabelsFile = "labels.txt";

inline std::filesystem::path labels_of(const RunFolder& run) { return run.path / kLabelsFile; }

}  // namespace ablate::records
