#include "training/storage/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

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

/// Some file systems cannot sync a folder, which they report as EINVAL.
void sync_open(int file, const std::filesystem::path& path) {
  while (::fsync(file) != 0) {
    if (errno == EINVAL) return;
    if (errno != EINTR) throw io_error("sync", path, errno);
  }
}

/// An open file; closes it.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : path_(path) {
    value_ = open_file(path, flags);
    if (value_ < 0) throw io_error((flags & O_CREAT) != 0 ? "create" : "open", path, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }

  void write_and_sync(std::string_view bytes) const {
    training::write_and_sync(value_, path_, bytes);
  }

  void write(int64_t offset, std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto written = ::pwrite(value_, bytes.data(), bytes.size(), offset);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw io_error("write", path_, written < 0 ? errno : EIO);
      bytes.remove_prefix(static_cast<size_t>(written));
      offset += written;
    }
  }

  std::string read() const {
    struct stat status {};
    if (::fstat(value_, &status) != 0) throw io_error("read", path_, errno);
    std::string bytes(static_cast<size_t>(status.st_size), '\0');
    size_t size = 0;
    for (;;) {
      if (size == bytes.size()) bytes.resize(size + 4096);
      const auto got = ::read(value_, bytes.data() + size, bytes.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw io_error("read", path_, errno);
      if (got == 0) break;
      size += static_cast<size_t>(got);
    }
    bytes.resize(size);
    return bytes;
  }

  void sync() const { sync_open(value_, path_); }

  /// An exclusive lock until the file is closed; without effect if the file system has no locks.
  void lock() const {
    while (::flock(value_, LOCK_EX) != 0 && errno == EINTR) continue;
  }

  /// Some file systems report a full disk only here.
  void close() {
    const int value = value_;
    value_ = -1;
    if (::close(value) != 0 && errno != EINTR) throw io_error("write", path_, errno);
  }

 private:
  std::filesystem::path path_;
  int value_ = -1;
};

void write_to(const std::filesystem::path& path, std::string_view bytes, int flags) {
  Descriptor file(path, O_WRONLY | flags);
  file.write_and_sync(bytes);
  file.close();
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
    const Descriptor claim(temporary, O_WRONLY | O_CREAT | O_EXCL);
    claim.lock();
    Descriptor file(temporary, O_WRONLY);
    fill([&](int64_t offset, std::string_view bytes) { file.write(offset, bytes); });
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
  write_to(path, bytes, O_CREAT | O_EXCL);
}

int open_file(const std::filesystem::path& path, int flags) {
  int file = -1;
  do file = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (file < 0 && errno == EINTR);
  return file;
}

void write_and_sync(int file, const std::filesystem::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw io_error("write", path, written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  sync_open(file, path);
}

void create_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw io_error("create", folder, error.value());
}

void sync_folder(const std::filesystem::path& folder) {
  const auto path = folder.empty() ? std::filesystem::path(".") : folder;
  const Descriptor directory(path, O_RDONLY | O_DIRECTORY);
  directory.sync();
}

std::string read_bytes(const std::filesystem::path& path) {
  return Descriptor(path, O_RDONLY).read();
}

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

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace ablate::training
