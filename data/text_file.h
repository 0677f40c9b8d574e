#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/gzip_file.h"

namespace ablate::data {

/// What may stand before the first character of a text in UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// One line without its line end, and why it is no line of text ("" where it is one).
struct Line {
  std::string text;
  std::string fault;
  bool cut = false;  // the line was too long, and `text` is its beginning
};

/// The one reader of lines, whether a study, a verb or a person with a pipe gives them. Lines end
/// with LF or CRLF, a missing last end is fine, a byte-order mark is left out, gzip is unpacked (by
/// its first bytes). Invalid UTF-8, NUL, a carriage return within and too many bytes are faults of
/// their line.
class LineReader {
 public:
  LineReader(GzipFile file, int64_t max_line_bytes)
      : file_(std::move(file)), limit_(static_cast<size_t>(max_line_bytes)), bytes_(65'536) {}

  /// The next line, which it waits for; nothing at the end. Throws DataError as GzipFile::read().
  std::optional<Line> next();
  /// Whether next() would wait, nothing having come for a moment. // see GzipFile::pauses()
  bool pauses();

  /// "file:3", the place of the line that was read last.
  std::string place() const;

 private:
  bool fill();
  bool take();
  Line finish();

  GzipFile file_;
  size_t limit_;
  std::vector<char> bytes_;
  std::string_view ahead_;  // of them, not yet taken
  std::string line_;        // taken, without what is beyond the limit
  size_t size_ = 0;         // bytes of the whole line
  bool open_ = false, whole_ = false, ended_ = false;
  int64_t number_ = 0;  // lines read
};

/// All lines of a file of a study. Throws DataError where it is empty, and as GzipFile does.
std::vector<Line> read_lines(const std::filesystem::path& file, int64_t max_line_bytes);

/// `text` as one line: what would end the line within becomes a space.
std::string one_line(std::string text);

/// What a file of these texts holds: each as one line.
std::string text_of(std::span<const std::string> lines);

/// Whether `text` has nothing to read: only white space (also U+2581, as which tokenizers spell
/// it), control characters, characters without a width of their own, and U+FFFD for lost ones.
/// Whatever SentencePiece's normalisation leaves without a token is blank.
bool blank(std::string_view text);

}  // namespace ablate::data
