#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"
#include "experiments/records/result.h"
#include "options/members.h"

namespace ablate::records {

/// What is fixed before the first run of a study: the content of its lock, STUDY.lock.
struct Registration {
  std::string registered;                // in UTC: 2026-01-31T23:59:59Z
  std::string study_sha256;              // declared_sha256()
  std::vector<std::string> data_sha256;  // of the examples of its tasks and arms, each once
  std::string program_sha256;
  std::string commit;    // of the program's source, as RunStart has it
  std::string earlier;   // SHA-256 of the newest lock that was in the folder before; empty: none
  std::string question;  // the study's or, if it has none, its name
  int64_t look = 1;      // which one of the folder's locks with this question

  ABLATE_FIELDS(registered, study_sha256, data_sha256, program_sha256, commit, earlier, question,
                look)
};

/// STUDY.lock beside STUDY.yaml.
std::filesystem::path lock_of(const std::filesystem::path& study);

/// SHA-256 of what a study declares: the values of all its tasks and arms, its seeds and, unless it
/// may be looked at often, `seeds`, its question, comparison, search and expectations. Comments,
/// the order of keys and files that it extends do not matter.
std::string declared_sha256(const config::Study& study, std::span<const int64_t> seeds);

/// SHA-256 of the lock in `folder` that was registered last; empty if there is none. Files that are
/// no locks, and damaged ones, are left out.
std::string newest_lock(const std::filesystem::path& folder);

/// How many locks in `folder` ask this question. Files that are no locks, and damaged ones, are
/// left out.
int64_t count_looks(const std::filesystem::path& folder, const std::string& question);

/// Throws CheckpointError if the lock is damaged; absent if it is missing.
std::optional<Registration> read_lock(const std::filesystem::path& lock);
void write_lock(const std::filesystem::path& lock, const Registration& registration);

/// Takes the lock of `file`, if there is one, into the folder of the study that starts, with what a
/// report cannot know any more: what the study declares now, with the `seeds` of all starts, and
/// whether a run of its arms and seeds is beside the folder already. Throws CheckpointError and
/// IoError.
void record_registration(const StudyFolder& folder, const std::filesystem::path& file,
                         const config::Study& study, std::span<const int64_t> seeds);

/// Whether what a study shows was declared before it was seen.
struct Standing {
  std::string registered;   // when; empty: never
  std::string exploratory;  // why results are exploratory; empty: they are confirmatory
  int64_t look = 0;         // of confirmatory results: which one at the question

  /// "Confirmatory: ..." or "Exploratory: ...".
  std::string sentence() const;
};

/// Results are confirmatory if the study was registered before its first run, has not been changed
/// since, all its runs, of every registered seed, have finished on the registered data with the
/// registered program, whose source was committed, and no run of these arms and seeds was beside it
/// under another name. Throws CheckpointError if the folder's record is damaged.
Standing standing_of(const StudyRuns& runs);

}  // namespace ablate::records
