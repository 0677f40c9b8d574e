#include "data/text_file.h"

#include <zlib.h>

#include <array>
#include <memory>

#include "data/corpus.h"
#include "tokenizer/utf8.h"

namespace ablate::data {
namespace {

constexpr size_t kLargestFile = size_t{16} << 30U;  // decompressed

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
      if (current_.size() <= limit_ + 1) current_ += part.substr(0, limit_ + 2);
      open_ = true;
      if (end == std::string_view::npos) return;
      finish();
      bytes.remove_prefix(end + 1);
    }
  }
  void finish() {
    if (!open_) return;
    if (lines_.empty() && current_.starts_with("\xef\xbb\xbf")) current_.erase(0, 3);
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
  std::vector<Line>& lines_;
  size_t limit_;
  std::string current_;
  size_t size_ = 0;
  bool open_ = false;
};

}  // namespace

std::vector<Line> read_lines(const std::filesystem::path& file, int64_t max_line_bytes) {
  if (std::filesystem::is_directory(file)) throw DataError(file.string() + ": is a folder");
  const OpenFile stream(gzopen(file.c_str(), "rb"));
  if (!stream)
    throw DataError(file.string() +
                    ": cannot be read; check the path (relative paths start at the study's folder, "
                    "or at --data)");
  std::vector<Line> lines;
  LineCutter cutter(lines, max_line_bytes);
  std::array<char, 65'536> buffer{};
  size_t total = 0;
  for (;;) {
    const int got = gzread(stream.get(), buffer.data(), buffer.size());
    if (got < 0) throw DataError(file.string() + ": the gzip archive is damaged or cut off");
    if (got == 0) break;
    total += static_cast<size_t>(got);
    if (total > kLargestFile) throw DataError(file.string() + ": holds more than 16 GiB of text");
    cutter.add({buffer.data(), static_cast<size_t>(got)});
  }
  int status = Z_OK;
  gzerror(stream.get(), &status);
  if (status != Z_OK && status != Z_STREAM_END)
    throw DataError(file.string() + ": the gzip archive is damaged or cut off");
  cutter.finish();
  if (lines.empty()) throw DataError(file.string() + ": the file is empty");
  return lines;
}

}  // namespace ablate::data
