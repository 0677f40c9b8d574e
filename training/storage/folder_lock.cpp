#include "training/storage/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "training/storage/durable_file.h"

namespace ablate::training {

FolderLock::FolderLock(const std::filesystem::path& folder, const std::function<void()>& waiting) {
  const auto file = folder / ".lock";
  descriptor_ = open_file(file, O_CREAT | O_RDWR);
  if (descriptor_ < 0) throw io_error("open", file, errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) waiting();
  while (::flock(descriptor_, LOCK_EX) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    ::close(descriptor_);
    throw io_error("lock", file, error);
  }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace ablate::training
