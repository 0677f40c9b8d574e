#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "training/storage/checkpoint_error.h"
#include "training/storage/io_error.h"

namespace ablate::training {

/// A file of JSON lines that only grows; each line is one write, so a killed process cuts at most
/// the last line.
class RunLog {
 public:
  /// Opens or creates the log and cuts it to its first `offset` bytes: what a resumed run will
  /// write again. Throws IoError, and CheckpointError where the log is shorter than `offset`.
  RunLog(const std::filesystem::path& path, uint64_t offset);
  RunLog(RunLog&& other) noexcept;
  RunLog& operator=(RunLog&& other) noexcept;
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  ~RunLog();

  /// Adds one line. Numbers that are not finite become the strings "NaN", "Infinity" and
  /// "-Infinity". Throws IoError with the log as it was before.
  void append(const nlohmann::json& record);

  /// Bytes so far: the offset to save in a checkpoint.
  uint64_t size() const { return size_; }

  /// Makes the lines so far survive a crash of the machine. Throws IoError.
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// The log's records. A last line without its end is dropped; any other malformed line throws
/// CheckpointError with its number. Throws IoError where the file cannot be read.
std::vector<nlohmann::json> read_run_log(const std::filesystem::path& path);

}  // namespace ablate::training
