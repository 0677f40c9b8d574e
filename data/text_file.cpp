#include "data/text_file.h"

#include <array>

#include "data/corpus.h"
#include "data/gzip_file.h"
#include "tokenizer/utf8.h"

namespace ablate::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Cuts a stream of bytes into lines; a line beyond the limit is not kept in memory.
class LineCutter {
 public:
  LineCutter(std::vector<Line>& lines, int64_t limit)
      : lines_(lines), limit_(static_cast<size_t>(limit)) {}

  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const auto part = bytes.substr(0, end);
      size_ += part.size();
      if (current_.size() < kept()) current_ += part.substr(0, kept() - current_.size());
      open_ = true;
      if (end == std::string_view::npos) return;
      finish();
      bytes.remove_prefix(end + 1);
    }
  }
  void finish() {
    if (!open_) return;
    if (lines_.empty() && current_.starts_with(kByteOrderMark))
      current_.erase(0, kByteOrderMark.size());
    if (current_.ends_with('\r')) current_.pop_back();
    std::string fault;
    if (current_.size() > limit_)
      fault = "the line has " + std::to_string(size_) + " bytes, more than max_line_bytes " +
              std::to_string(limit_);
    else if (current_.find('\0') != std::string::npos)
      fault = "the line holds a NUL byte";
    else if (!tokenizer::valid_utf8(current_))
      fault = "the line is not valid UTF-8";
    lines_.push_back({std::move(current_), std::move(fault)});
    current_.clear();
    size_ = 0;
    open_ = false;
  }

 private:
  /// Enough of a line to know that it is too long, whatever byte-order mark and line end are left
  /// out.
  size_t kept() const { return limit_ + kByteOrderMark.size() + 2; }

  std::vector<Line>& lines_;
  size_t limit_;
  std::string current_;
  size_t size_ = 0;
  bool open_ = false;
};

}  // namespace

std::vector<Line> read_lines(const std::filesystem::path& file, int64_t max_line_bytes) {
  GzipFile stream(file);
  std::vector<Line> lines;
  LineCutter cutter(lines, max_line_bytes);
  std::array<char, 65'536> buffer{};
  while (const size_t got = stream.read(buffer)) cutter.add({buffer.data(), got});
  cutter.finish();
  if (lines.empty()) throw DataError(file.string() + ": the file is empty");
  return lines;
}

}  // namespace ablate::data
