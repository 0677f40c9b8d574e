#pragma once

#include <filesystem>
#include <optional>

#include "experiments/records/folders.h"

namespace ablate::exchange {

/// Writes everything that a study's report and status are made from into one ZIP file that any
/// program for such files opens, below a folder of the study's name: the study, the results,
/// curves, configurations and outputs of its runs, and the report. Checkpoints, TensorBoard's files
/// and the scripts of clusters are left out. Throws UsageError if `folder` is no study's, IoError.
void pack(const records::StudyFolder& folder, const std::filesystem::path& file);

/// Whether `path` is a file that is meant as a pack: it is named .zip or begins as ZIP files do.
bool is_pack(const std::filesystem::path& path);

/// Writes the files of a pack into `folder`. Throws CheckpointError if `file` is no pack, is
/// damaged or names a file outside of its study, IoError.
void unpack(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Writes the files of a pack that was unzipped into `folder` and holds equal ones once, for which
/// it has a list; without that list all are there. Throws CheckpointError that names `pack` if the
/// list is damaged, IoError.
void complete(const std::filesystem::path& folder, const std::filesystem::path& pack);

/// A folder that exists as long as this value.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A study's folder, or the temporary one that a pack is unpacked to until this value ends.
class OpenedStudy {
 public:
  /// Completes a folder that was unzipped. Throws as records::named_study(), complete() and
  /// unpack().
  explicit OpenedStudy(const std::filesystem::path& folder_or_pack);

  const records::StudyFolder& folder() const { return folder_; }
  bool packed() const { return unpacked_.has_value(); }

 private:
  std::optional<TemporaryFolder> unpacked_;
  records::StudyFolder folder_;
};

}  // namespace ablate::exchange
