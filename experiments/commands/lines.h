#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

#include "data/text_file.h"
#include "experiments/records/result.h"

namespace ablate::commands {

/// Bytes of the longest line that verbs read.
inline constexpr int64_t kLongestLine = 16'777'216;

/// The lines of standard input as they come, read as those of files are. They may hold any bytes,
/// so that every line is answered, and the first that is no text is noted on standard error; a
/// longer one than kLongestLine throws DataError.
class InputLines {
 public:
  /// The next line, for which it waits; nullopt at the end. Throws DataError if the input cannot be
  /// read.
  std::optional<std::string> next();
  /// The next line and those that follow it without a pause, at most `most`; empty at the end.
  std::vector<std::string> group(size_t most);
  /// Whether next() would wait, since no input has come for a moment: time to answer earlier lines.
  bool pauses() { return reader_.pauses(); }

 private:
  data::LineReader reader_{data::GzipFile::standard_input(), kLongestLine};
  bool noted_ = false;
};

/// All lines of a file, or of standard input for "-"; an empty file has no lines. Throws DataError
/// if it cannot be read or a line is not text, with its number.
std::vector<std::string> read_text(const std::string& file);

/// Throws DataError if the name of a file says that its lines are not texts, as .jsonl does.
void require_lines(const std::string& file);

/// The reader of standard output is gone, for example in a pipe into `head`.
struct OutputClosed : std::runtime_error {
  OutputClosed() : std::runtime_error("standard output is closed") {}
};

/// While one exists, std::cout throws OutputClosed, or IoError with the system's reason, as soon as
/// its text cannot be written, and drops that text. Terminals show every output immediately.
class CheckedOutput : private std::streambuf {
 public:
  CheckedOutput();
  ~CheckedOutput() override;
  CheckedOutput(const CheckedOutput&) = delete;
  CheckedOutput& operator=(const CheckedOutput&) = delete;

 private:
  int_type overflow(int_type character) override;
  int sync() override;

  std::array<char, 65'536> buffer_;
  std::streambuf* before_;
};

/// "3 % of the target tokens unknown"; empty if all are known.
std::string unknown_text(double share);

/// One test set's scores on one line, those that its kind of data has, and the number of examples
/// that they leave out.
std::string score_line(const records::TestScores& scores);

}  // namespace ablate::commands
