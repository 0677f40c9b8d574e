#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "training/storage/errors.h"

namespace ablate::training {

/// open(2), repeated if a signal interrupts it; -1 with errno if it fails. Child programs do not
/// inherit the file.
int open_file(const std::filesystem::path& path, int flags);

/// An open file, which closes at the end of its life. All calls but append() throw IoError; what a
/// signal interrupts is repeated.
class File {
 public:
  /// Opens it as open_file() does.
  File(const std::filesystem::path& path, int flags);
  /// Takes over what open_file() has opened.
  File(int descriptor, std::filesystem::path path)
      : path_(std::move(path)), descriptor_(descriptor) {}
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }
  /// One write(2), which may be of fewer bytes.
  ssize_t append(std::string_view bytes) const;
  void write_and_sync(std::string_view bytes) const;
  void write_at(int64_t offset, std::string_view bytes) const;
  /// The bytes from here to the end, or the first `most`.
  std::string read(size_t most = SIZE_MAX) const;
  size_t size() const;
  void cut(size_t size) const;
  /// Some file systems cannot sync a folder, which is no error.
  void sync() const;
  /// Some file systems report a full disk only here.
  void close();

 private:
  std::filesystem::path path_;
  int descriptor_;
};

/// The prefix of temporary names.
inline constexpr std::string_view kTemporary = ".tmp-";

/// A hidden name in the folder of `path` for a file to be renamed to it. It begins with kTemporary
/// and the host's name and is random, so that no two processes choose the same one, on any machine,
/// in any container or namespace.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Removes the temporary files in `folder` whose write_durably() a process of this host began and
/// did not live to finish. Those of other hosts, and those that are being written, stay.
void remove_leftover_files(const std::filesystem::path& folder);

/// Replaces the file at `path` so that after a crash it holds either its old bytes or `bytes`:
/// written under a temporary name beside it, synced, renamed, the folder synced. Throws IoError and
/// leaves neither a temporary file nor a changed `path`.
void write_durably(const std::filesystem::path& path, std::string_view bytes);

/// Writes bytes at an offset of a file. Throws IoError.
using WriteAt = std::function<void(int64_t offset, std::string_view bytes)>;

/// The same for bytes that `fill` writes in parts, so that not all of them are in memory.
void write_durably(const std::filesystem::path& path,
                   const std::function<void(const WriteAt&)>& fill);

/// Creates `path` with `bytes` and syncs it, without the rename: for files in a folder that is
/// itself renamed. Throws IoError, also if `path` exists.
void write_synced(const std::filesystem::path& path, std::string_view bytes);

/// Creates a folder and those above it that are missing. Throws IoError.
void create_folder(const std::filesystem::path& folder);

/// Makes the names in `folder` survive a crash. Throws IoError.
void sync_folder(const std::filesystem::path& folder);

/// All bytes of the file. Throws IoError.
std::string read_bytes(const std::filesystem::path& path);

/// Holds a folder for one process at a time by a lock on its file .lock, which the kernel releases
/// when the process ends in any way. The holder therefore knows that unfinished files of earlier
/// holders are not being continued.
class FolderLock {
 public:
  /// Waits until no other process holds `folder`, and calls `waiting` before, if it has to. Throws
  /// IoError if the folder cannot be written.
  explicit FolderLock(
      const std::filesystem::path& folder, const std::function<void()>& waiting = [] {});

 private:
  File file_;
};

/// The name of the host; "unknown" if it has none.
std::string host_name();

}  // namespace ablate::training
