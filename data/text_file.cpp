#include "data/text_file.h"

#include <algorithm>
#include <utility>

#include "data/corpus.h"
#include "tokenizer/text/unicode.h"

namespace ablate::data {
namespace {

constexpr std::string_view kLineEnds = "\r\n";

/// Whether a code point from U+D800 to U+DFFF is spelled as if it were a character.
bool holds_surrogate(std::string_view line) {
  for (auto at = line.find('\xed'); at != std::string_view::npos; at = line.find('\xed', at + 1))
    if (at + 1 < line.size() && static_cast<unsigned char>(line[at + 1]) >= 0xa0) return true;
  return false;
}

std::string why_no_text(const std::string& line) {
  if (line.find('\0') != std::string::npos) return "the line holds a NUL byte";
  if (line.find('\r') != std::string::npos)
    return "the line holds a carriage return that does not end it";
  if (tokenizer::valid_utf8(line)) return "";
  return holds_surrogate(line)
             ? "the line holds half of a surrogate pair (U+D800 to U+DFFF), which "
               "is no character"
             : "the line is not valid UTF-8";
}

bool shows_nothing(char32_t character) {
  // SentencePiece's sign for a space, and the replacement character.
  constexpr char32_t kSpace = 0x2581, kLost = 0xfffd;
  return character == kSpace || character == kLost || tokenizer::is_white_space(character) ||
         tokenizer::is_control(character) || tokenizer::is_default_ignorable(character);
}

}  // namespace

bool LineReader::fill() {
  ahead_ = {bytes_.data(), file_.read(bytes_)};
  ended_ = ahead_.empty();
  return !ended_;
}

/// Adds the available part of the next line. False at the end of the file.
bool LineReader::take() {
  if (ahead_.empty()) return false;
  // Enough of a line to know that it is too long even without its mark and line end.
  const size_t kept = limit_ + kByteOrderMark.size() + kLineEnds.size();
  const size_t end = ahead_.find('\n');
  const auto part = ahead_.substr(0, end);
  size_ += part.size();
  if (line_.size() < kept) line_ += part.substr(0, kept - line_.size());
  open_ = true;
  whole_ = end != std::string_view::npos;
  ahead_.remove_prefix(part.size() + (whole_ ? 1 : 0));
  return true;
}

Line LineReader::finish() {
  Line line{.text = std::exchange(line_, {})};
  if (number_++ == 0 && line.text.starts_with(kByteOrderMark))
    line.text.erase(0, kByteOrderMark.size());
  if (line.text.ends_with('\r')) line.text.pop_back();
  line.cut = line.text.size() > limit_;
  line.fault = line.cut ? "the line has " + std::to_string(size_) + " bytes, more than " +
                              std::to_string(limit_)
                        : why_no_text(line.text);
  size_ = 0;
  open_ = whole_ = false;
  return line;
}

std::optional<Line> LineReader::next() {
  while (!whole_ && (take() || fill())) {
  }
  if (!open_) return {};
  return finish();
}

bool LineReader::pauses() {
  while (!whole_ && !ended_) {
    if (take()) continue;
    if (file_.pauses()) return true;
    fill();
  }
  return false;
}

std::string LineReader::place() const {
  return file_.path().string() + ":" + std::to_string(number_);
}

std::vector<Line> read_lines(const std::filesystem::path& file, int64_t max_line_bytes,
                             size_t most) {
  LineReader reader(GzipFile(file), max_line_bytes);
  std::vector<Line> lines;
  while (lines.size() < most) {
    auto line = reader.next();
    if (!line) break;
    if (line->cut) line->fault += " (data.max_line_bytes)";
    lines.push_back(std::move(*line));
  }
  if (lines.empty()) throw DataError(file.string() + ": the file is empty");
  return lines;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return kLineEnds.find(c) != std::string_view::npos; }, ' ');
  return text;
}

std::string joined_pair(std::string first, std::string second) {
  std::ranges::replace(first, '\t', ' ');
  std::ranges::replace(second, '\t', ' ');
  return first + '\t' + second;
}

std::vector<std::string_view> texts_of_pair(std::string_view source) {
  const auto tab = source.find('\t');
  if (tab == std::string_view::npos) return {source};
  return {source.substr(0, tab), source.substr(tab + 1)};
}

std::string text_of(std::span<const std::string> lines) {
  std::string text;
  for (const auto& line : lines) text += one_line(line) + '\n';
  return text;
}

bool blank(std::string_view text) {
  return std::ranges::all_of(tokenizer::code_points(text), shows_nothing);
}

}  // namespace ablate::data
