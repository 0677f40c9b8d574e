#include "training/storage/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::training {
namespace {

/// Cuts an open log to `offset` bytes, which must be the end of a line.
void cut(int descriptor, const std::filesystem::path& path, uint64_t offset) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw io_error("read", path, errno);
  char last = '\n';
  const auto size = static_cast<uint64_t>(status.st_size);
  if (offset > 0 && offset <= size &&
      ::pread(descriptor, &last, 1, static_cast<off_t>(offset - 1)) != 1)
    throw io_error("read", path, errno);
  if (offset > size || last != '\n')
    throw CheckpointError(
        fmt::format("'{}' does not belong to the checkpoint: it has {} bytes and no line ends at "
                    "byte {}; put the log back or remove the run's folder to start again",
                    path.string(), size, offset));
  if (size > offset && ::ftruncate(descriptor, static_cast<off_t>(offset)) != 0)
    throw io_error("cut", path, errno);
}

std::string bytes_of(int descriptor, const std::filesystem::path& path, uint64_t size) {
  std::string bytes(size, '\0');
  for (size_t read = 0; read < bytes.size();) {
    const auto more =
        ::pread(descriptor, bytes.data() + read, bytes.size() - read, static_cast<off_t>(read));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) throw io_error("read", path, more < 0 ? errno : EIO);
    read += static_cast<size_t>(more);
  }
  return bytes;
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& path, const Mark& mark)
    : path_(path), size_(mark.bytes) {
  descriptor_ = open_file(path, O_RDWR | O_CREAT | O_APPEND);
  if (descriptor_ < 0) throw io_error("open", path, errno);
  try {
    cut(descriptor_, path, mark.bytes);
    sync_folder(
        path.parent_path());  // or a checkpoint may survive a loss of power, and its log not
    digest_.add(bytes_of(descriptor_, path, size_));
    if (mark.bytes > 0 && this->mark().sha256 != mark.sha256)
      throw CheckpointError(
          fmt::format("'{}' is damaged: its first {} bytes are not those that the checkpoint was "
                      "saved with; put the log back or remove the run's folder to start again",
                      path.string(), mark.bytes));
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

RunLog::RunLog(RunLog&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      digest_(other.digest_) {}

RunLog& RunLog::operator=(RunLog&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(digest_, other.digest_);
  return *this;
}

RunLog::~RunLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RunLog::append(const nlohmann::json& record) {
  const auto line =
      without_non_finite(record).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
      '\n';
  ssize_t written = 0;
  do written = ::write(descriptor_, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(line.size())) {
    // A partial write to a regular file means that there is no space for the rest.
    const int code = written < 0 ? errno : ENOSPC;
    if (written > 0 && ::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0)
      throw io_error("cut", path_, errno);
    throw io_error("write", path_, code);
  }
  size_ += line.size();
  digest_.add(line);
}

RunLog::Mark RunLog::mark() const {
  auto digest = digest_;
  return {size_, digest.sha256()};
}

void RunLog::sync() {
  while (::fsync(descriptor_) != 0)
    if (errno != EINTR) throw io_error("sync", path_, errno);
}

std::vector<nlohmann::json> read_run_log(const std::filesystem::path& path) {
  const auto bytes = read_bytes(path);
  std::vector<nlohmann::json> records;
  std::string_view rest = bytes;
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    auto record = parse_json(rest.substr(0, end));
    if (!record.is_object())
      throw CheckpointError(
          fmt::format("{}:{}: not a JSON record", path.string(), records.size() + 1));
    records.push_back(std::move(record));
    rest.remove_prefix(end + 1);
  }
  return records;
}

}  // namespace ablate::training
