#pragma once

#include <filesystem>
#include <functional>

#include "training/storage/io_error.h"

namespace ablate::training {

/// Holds a folder for one process at a time by a lock on its file .lock, which the kernel gives
/// back when the process ends, however it ends. So who holds the lock knows that whatever others
/// began in the folder while they held it is not being continued.
class FolderLock {
 public:
  /// Waits until no other process holds `folder`, and calls `waiting` before, if it has to. Throws
  /// IoError where the folder cannot be written.
  explicit FolderLock(
      const std::filesystem::path& folder, const std::function<void()>& waiting = [] {});
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace ablate::training
