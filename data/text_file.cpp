#include "data/text_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>

#include "data/corpus.h"
#include "tokenizer/utf8.h"

namespace ablate::data {
namespace {

constexpr size_t kLargestFile = size_t{16} << 30U;  // decompressed
// Text packs 3 to 20 times, a crafted archive 1,000 times.
constexpr size_t kHighestRatio = 200;
constexpr size_t kRatioFrom = size_t{4} << 20U;  // decompressed
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct CloseFile {
  void operator()(gzFile file) const { gzclose(file); }
};
using OpenFile = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseFile>;

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
  /// Enough of a line to know that it is too long, whatever mark and line end are left out.
  size_t kept() const { return limit_ + kByteOrderMark.size() + 2; }

  std::vector<Line>& lines_;
  size_t limit_;
  std::string current_;
  size_t size_ = 0;
  bool open_ = false;
};

OpenFile open(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(file, unreadable))
    throw DataError(file.string() + ": is a folder; name a text file");
  OpenFile stream(gzopen(file.c_str(), "rb"));
  if (!stream)
    throw DataError(file.string() +
                    ": cannot be read; check the path (relative paths start at the study's folder, "
                    "or at --data)");
  return stream;
}

void check_size(const std::filesystem::path& file, gzFile stream, size_t total) {
  if (total > kLargestFile) throw DataError(file.string() + ": holds more than 16 GiB of text");
  const auto packed = static_cast<size_t>(std::max<z_off_t>(gzoffset(stream), 1));
  if (total > kRatioFrom && total / packed > kHighestRatio)
    throw DataError(file.string() +
                    ": the gzip archive unpacks to more than 200 times its size; "
                    "unpack it if it is text nevertheless");
}

void check_end(const std::filesystem::path& file, gzFile stream) {
  int status = Z_OK;
  gzerror(stream, &status);
  if (status == Z_ERRNO) throw DataError(file.string() + ": cannot be read to its end");
  if (status != Z_OK && status != Z_STREAM_END)
    throw DataError(file.string() + ": the gzip archive is damaged or cut off");
}

}  // namespace

std::vector<Line> read_lines(const std::filesystem::path& file, int64_t max_line_bytes) {
  const auto stream = open(file);
  std::vector<Line> lines;
  LineCutter cutter(lines, max_line_bytes);
  std::array<char, 65'536> buffer{};
  size_t total = 0;
  for (;;) {
    const int got = gzread(stream.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    total += static_cast<size_t>(got);
    check_size(file, stream.get(), total);
    cutter.add({buffer.data(), static_cast<size_t>(got)});
  }
  check_end(file, stream.get());
  cutter.finish();
  if (lines.empty()) throw DataError(file.string() + ": the file is empty");
  return lines;
}

}  // namespace ablate::data
