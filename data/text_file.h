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

/// The byte order mark that may precede a text in UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// One line without its line end, and why it is not a line of text ("" if it is one).
struct Line {
  std::string text;
  std::string fault;
  bool cut = false;  // the line was too long, and `text` is its beginning
};

/// The reader of all lines, of studies, verbs and pipes. Lines end with LF or CRLF, a missing last
/// end is fine, a byte-order mark is left out, gzip is unpacked (by its first bytes). Invalid
/// UTF-8, NUL, a carriage return within and too many bytes are faults of their line.
class LineReader {
 public:
  LineReader(GzipFile file, int64_t max_line_bytes)
      : file_(std::move(file)), limit_(static_cast<size_t>(max_line_bytes)), bytes_(65'536) {}

  /// The next line, for which it waits; nullopt at the end. Throws DataError as GzipFile::read()
  /// does.
  std::optional<Line> next();
  /// Whether next() would wait, since no input has come for a moment. // see GzipFile::pauses()
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
  std::string line_;        // the bytes read so far, up to the limit
  size_t size_ = 0;         // bytes of the whole line
  bool open_ = false, whole_ = false, ended_ = false;
  int64_t number_ = 0;  // lines read
};

/// All lines of a file of a study, or the first `most`. Throws DataError if it is empty, and as
/// GzipFile does.
std::vector<Line> read_lines(const std::filesystem::path& file, int64_t max_line_bytes,
                             size_t most = SIZE_MAX);

/// `text` as one line: line breaks within it become spaces.
std::string one_line(std::string text);

/// Joins two texts to one source by a tab; tabs within them become spaces.
std::string joined_pair(std::string first, std::string second);

/// The texts of joined_pair(); one text if there is no tab.
std::vector<std::string_view> texts_of_pair(std::string_view source);

/// The contents of a file of these texts: each as one line.
std::string text_of(std::span<const std::string> lines);

/// Whether `text` has no visible character: only white space (also U+2581, its spelling by
/// tokenizers), control characters, characters without a width, and U+FFFD for lost ones. Every
/// text without a token after SentencePiece's normalisation is blank.
bool blank(std::string_view text);

}  // namespace ablate::data
