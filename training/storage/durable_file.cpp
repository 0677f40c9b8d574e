#include "training/storage/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include "training/storage/errors.h"

namespace ablate::training {
namespace {

/// The user's remedy for an error of the operating system; empty if none is known.
std::string_view remedy(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return kFreeSpace;
    case EFBIG:
      return "the limit on file sizes (ulimit -f) is too small";
    case EACCES:
    case EPERM:
    case EROFS:
      return "make it writable or choose another folder";
    default:
      return "";
  }
}

/// The prefix of temporary names of this host. No host has an @ in its name.
std::string own_prefix() { return fmt::format("{}{}@", kTemporary, host_name()); }

/// A writer locks its temporary file before the first byte.
bool is_leftover(int file) {
  struct stat status {};
  return ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::fstat(file, &status) == 0 && status.st_size > 0;
}

}  // namespace

IoError io_error(std::string_view action, const std::filesystem::path& path, int code) {
  if (code == ENOMEM) throw std::bad_alloc();
  const auto what_to_do = remedy(code);
  return IoError(fmt::format("cannot {} '{}': {}{}{}", action, path.string(),
                             std::generic_category().message(code), what_to_do.empty() ? "" : "; ",
                             what_to_do));
}

File::File(const std::filesystem::path& path, int flags)
    : path_(path), descriptor_(open_file(path, flags)) {
  if (descriptor_ < 0) throw io_error((flags & O_EXCL) != 0 ? "create" : "open", path, errno);
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::write_and_sync(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto written = append(bytes);
    if (written <= 0) throw io_error("write", path_, written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  sync();
}

ssize_t File::append(std::string_view bytes) const {
  ssize_t written = 0;
  do written = ::write(descriptor_, bytes.data(), bytes.size());
  while (written < 0 && errno == EINTR);
  return written;
}

void File::write_at(int64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw io_error("write", path_, written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
}

std::string File::read(size_t most) const {
  std::string bytes(std::min(size(), most), '\0');
  size_t read = 0;
  while (read < most) {
    if (read == bytes.size()) bytes.resize(std::min(most, read + 4096));
    const auto got = ::read(descriptor_, bytes.data() + read, bytes.size() - read);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw io_error("read", path_, errno);
    if (got == 0) break;
    read += static_cast<size_t>(got);
  }
  bytes.resize(read);
  return bytes;
}

size_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw io_error("read", path_, errno);
  return static_cast<size_t>(status.st_size);
}

void File::cut(size_t size) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) throw io_error("cut", path_, errno);
}

void File::sync() const {
  while (::fsync(descriptor_) != 0) {
    if (errno == EINVAL) return;
    if (errno != EINTR) throw io_error("sync", path_, errno);
  }
}

void File::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    throw io_error("write", path_, errno);
}

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  std::random_device random;  // of the operating system
  return path.parent_path() / fmt::format("{}{}-{:08x}{:08x}", own_prefix(),
                                          path.filename().string(), random(), random());
}

void remove_leftover_files(const std::filesystem::path& folder) {
  const auto own = own_prefix();
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto& path = entry->path();
    if (!path.filename().string().starts_with(own)) continue;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) continue;
    if (is_leftover(file)) ::unlink(path.c_str());
    ::close(file);
  }
}

void write_durably(const std::filesystem::path& path, std::string_view bytes) {
  write_durably(path, [&](const WriteAt& write) { write(0, bytes); });
}

void write_durably(const std::filesystem::path& path,
                   const std::function<void(const WriteAt&)>& fill) {
  const auto temporary = temporary_beside(path);
  try {
    const File claim(temporary, O_WRONLY | O_CREAT | O_EXCL);
    // Without effect if the file system has no locks.
    while (::flock(claim.descriptor(), LOCK_EX) != 0 && errno == EINTR) continue;
    File file(temporary, O_WRONLY);
    fill([&](int64_t offset, std::string_view bytes) { file.write_at(offset, bytes); });
    file.sync();
    file.close();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) throw io_error("write", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(path.parent_path());
}

void write_synced(const std::filesystem::path& path, std::string_view bytes) {
  File file(path, O_WRONLY | O_CREAT | O_EXCL);
  file.write_and_sync(bytes);
  file.close();
}

int open_file(const std::filesystem::path& path, int flags) {
  int file = -1;
  do file = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (file < 0 && errno == EINTR);
  return file;
}

void create_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw io_error("create", folder, error.value());
}

void sync_folder(const std::filesystem::path& folder) {
  const auto path = folder.empty() ? std::filesystem::path(".") : folder;
  File(path, O_RDONLY | O_DIRECTORY).sync();
}

std::string read_bytes(const std::filesystem::path& path) { return File(path, O_RDONLY).read(); }

FolderLock::FolderLock(const std::filesystem::path& folder, const std::function<void()>& waiting)
    : file_(folder / ".lock", O_CREAT | O_RDWR) {
  if (::flock(file_.descriptor(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) waiting();
  while (::flock(file_.descriptor(), LOCK_EX) != 0)
    if (errno != EINTR) throw io_error("lock", folder / ".lock", errno);
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace ablate::training
