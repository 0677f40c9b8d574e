#pragma once

#include <filesystem>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// The study that a start with this file and selection would run. Throws as freeze(). Looks at
/// files only before the first start, since the runs that are left may need none of them.
config::Study planned(const std::filesystem::path& file, const config::Selection& selection,
                      const std::filesystem::path& output);

/// Fixes the study before its first run: <output>/<study>/study.yaml becomes a copy of `file`, and
/// command.json beside it holds the --set values and the seeds of all starts. Later starts may only
/// add tasks, sizes, values of the grid, arms and seeds, which the copy then has, too; their
/// `selection` may differ except in the sets. Gives the study of the copy, so that later edits of
/// `file` have no effect. Throws UsageError with the differences from the copy, before it writes
/// anything; ConfigError and IoError.
config::Study freeze(const std::filesystem::path& file, const config::Selection& selection,
                     const std::filesystem::path& output);

/// The folder that a user names: `given` itself or, if it is a study's file, the study's folder in
/// kDefaultOutput. Throws UsageError if that study has not been started there, ConfigError if the
/// file cannot be read.
StudyFolder named_study(const std::filesystem::path& given);

/// The options of the command line with which the study in <output>/<study> was started. Throws
/// CheckpointError if command.json is damaged.
config::Selection frozen_selection(const StudyFolder& folder);

/// The study in <output>/<study> with all its tasks and arms, with their best values if it tunes
/// any (tuned_arms.h), and the seeds of all starts, whatever a single start selected. Throws
/// UsageError if there is none. `count` is needed if the study has `match`.
config::Study read_frozen(const StudyFolder& folder, const config::ParameterCounter& count = {});

}  // namespace ablate::records
