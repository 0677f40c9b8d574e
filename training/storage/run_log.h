#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"

namespace ablate::training {

/// A file of JSON lines that only grows; each line is one write, so a killed process cuts at most
/// the last line.
class RunLog {
 public:
  /// A log up to some point: its bytes, and their SHA-256 if there are any.
  struct Mark {
    uint64_t bytes = 0;
    std::string sha256 = {};
  };

  /// Opens or creates the log and cuts it after `mark`, since a resumed run writes the rest again.
  /// Throws IoError, and CheckpointError if the log is shorter or its beginning has changed.
  RunLog(const std::filesystem::path& path, const Mark& mark);

  /// Adds one line. Numbers that are not finite become the strings "NaN", "Infinity" and
  /// "-Infinity". Throws IoError with the log as it was before.
  void append(const nlohmann::json& record);

  /// All that was written so far, to save in a checkpoint.
  Mark mark() const;

  /// Makes the lines so far survive a crash of the machine. Throws IoError.
  void sync() const;

 private:
  std::filesystem::path path_;
  File file_;
  size_t size_;
  tokenizer::Digest digest_;  // of the bytes written so far
};

/// The log's records. A last line without its end is dropped; any other line that is not a JSON
/// object throws CheckpointError with its number. Throws IoError if the file cannot be read.
std::vector<nlohmann::json> read_run_log(const std::filesystem::path& path);

}  // namespace ablate::training
