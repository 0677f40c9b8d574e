#pragma once

#include <filesystem>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// The study that a start with this file and selection would run. Throws as freeze().
config::Study planned(const std::filesystem::path& file, const config::Selection& selection,
                      const std::filesystem::path& output);

/// Fixes the study before its first run: <output>/<study>/study.yaml becomes a copy of `file`, and
/// command.json beside it holds the --set values and the seeds of all starts. Later only tasks,
/// arms and seeds may be added, which the copy then has, too; `selection` may differ but for its
/// sets. Gives the study as the copy says, so that editing `file` meanwhile changes nothing. Throws
/// UsageError that lists what differs from the copy, and writes nothing then; ConfigError and
/// IoError.
config::Study freeze(const std::filesystem::path& file, const config::Selection& selection,
                     const std::filesystem::path& output);

/// What the command line said that the study in <output>/<study> was started with. Throws
/// CheckpointError where command.json is damaged.
config::Selection frozen_selection(const StudyFolder& folder);

/// The study in <output>/<study> with all its tasks and arms, those with tuned values included
/// (tuned_arms.h), and the seeds of all starts, whatever a single start selected. Throws
/// ConfigError where there is none.
config::Study read_frozen(const StudyFolder& folder);

}  // namespace ablate::records
