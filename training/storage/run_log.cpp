#include "training/storage/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::training {

RunLog::RunLog(const std::filesystem::path& path, const Mark& mark)
    : path_(path), file_(path, O_RDWR | O_CREAT | O_APPEND), size_(mark.bytes) {
  const auto size = file_.size();
  const auto bytes = file_.read(std::min(size, size_));
  if (size < size_ || (!bytes.empty() && bytes.back() != '\n'))
    throw CheckpointError(
        fmt::format("'{}' does not belong to the checkpoint: it has {} bytes and no line ends at "
                    "byte {}; put the log back or remove the run's folder to start again",
                    path.string(), size, size_));
  if (size > size_) file_.cut(size_);
  sync_folder(path.parent_path());  // or a checkpoint may survive a loss of power, and its log not
  digest_.add(bytes);
  if (size_ > 0 && this->mark().sha256 != mark.sha256)
    throw CheckpointError(
        fmt::format("'{}' is damaged: its first {} bytes are not those that the checkpoint was "
                    "saved with; put the log back or remove the run's folder to start again",
                    path.string(), size_));
}

void RunLog::append(const nlohmann::json& record) {
  const auto line =
      without_non_finite(record).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
      '\n';
  const auto written = file_.append(line);
  if (written != static_cast<ssize_t>(line.size())) {
    // A partial write to a regular file means that there is no space for the rest.
    const int code = written < 0 ? errno : ENOSPC;
    if (written > 0) file_.cut(size_);
    throw io_error("write", path_, code);
  }
  size_ += line.size();
  digest_.add(line);
}

RunLog::Mark RunLog::mark() const {
  auto digest = digest_;
  return {size_, digest.sha256()};
}

void RunLog::sync() const { file_.sync(); }

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
