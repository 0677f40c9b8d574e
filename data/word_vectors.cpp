#include "data/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "data/corpus.h"
#include "data/foreign_form.h"
#include "data/gzip_file.h"
#include "data/text_file.h"
#include "tokenizer/text/from_chars.h"

namespace ablate::data {
namespace {

constexpr size_t kLongest = size_t{1} << 24U;  // bytes of a line or a word

/// Bytes of a file, looked at before they are taken.
class Bytes {
 public:
  explicit Bytes(const std::filesystem::path& file) : file_(file) {}

  /// The bytes before the next `end`, which is consumed, too; nullopt at the end of the file.
  std::optional<std::string> until(char end) {
    size_t length = ahead_.find(end, begin_);
    while (length == std::string::npos && fill()) {
      length = ahead_.find(end, begin_);
      if (ahead_.size() - begin_ > kLongest)
        throw DataError(file_.path().string() + ": is no file of word vectors");
    }
    if (length == std::string::npos && begin_ == ahead_.size()) return {};
    const size_t stop = std::min(length, ahead_.size());
    std::string text = ahead_.substr(begin_, stop - begin_);
    begin_ = std::min(stop + 1, ahead_.size());
    return text;
  }
  /// The next `count` bytes, or fewer at the end of the file, without taking them.
  std::string_view peek(size_t count) {
    while (ahead_.size() - begin_ < count && fill()) {
    }
    return std::string_view(ahead_).substr(begin_, count);
  }
  /// The same, taken.
  std::string_view take(size_t count) {
    const auto bytes = peek(count);
    begin_ += bytes.size();
    return bytes;
  }
  /// The next line, without taking it.
  std::string_view peek_line() {
    while (ahead_.find('\n', begin_) == std::string::npos && ahead_.size() - begin_ < kLongest &&
           fill()) {
    }
    const auto rest = std::string_view(ahead_).substr(begin_);
    return rest.substr(0, rest.find('\n'));
  }

 private:
  bool fill() {
    std::array<char, 65'536> buffer{};
    const size_t got = file_.read(buffer);
    ahead_.erase(0, begin_);
    begin_ = 0;
    ahead_.append(buffer.data(), got);
    return got > 0;
  }

  GzipFile file_;
  std::string ahead_;
  size_t begin_ = 0;  // of the bytes that are not yet consumed
};

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
  return fields;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = tokenizer::from_chars(text, value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// Reads the three formats; `place` names the current line or word in messages.
class Reader {
 public:
  Reader(const std::filesystem::path& file, const std::unordered_set<std::string>& wanted,
         int64_t width)
      : file_(file), bytes_(file), wanted_(wanted), width_(static_cast<size_t>(width)) {}

  WordVectors read() {
    auto first = bytes_.until('\n');
    if (!first) throw DataError(file_.string() + ": the file is empty");
    if (first->starts_with(kByteOrderMark)) first->erase(0, kByteOrderMark.size());
    const auto fields = fields_of(*first);
    const auto words = fields.size() == 2 ? parse_number<int64_t>(fields[0]) : std::nullopt;
    const auto width = fields.size() == 2 ? parse_number<int64_t>(fields[1]) : std::nullopt;
    if (!words || !width) {
      read_text(*first, 1, {});
      return std::move(vectors_);
    }
    check_width(static_cast<size_t>(*width));
    if (*words < 1) fail("line 1", "promises no word");
    text_follows() ? read_text(bytes_.until('\n'), 2, *words) : read_binary(*words);
    return std::move(vectors_);
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& why) const {
    throw DataError(fmt::format("{}: {}: {}", file_.string(), place, why));
  }
  [[noreturn]] void fail_for_more(int64_t words) const {
    fail("line 1", fmt::format("promises {} words, and more follow", words));
  }
  void check_width(size_t width) const {
    if (width != width_)
      throw DataError(fmt::format("{}: its vectors are {} numbers wide, and model.d_model is {}",
                                  file_.string(), width, width_));
  }
  /// Whether the rows behind a header are text: their bytes are, or the first vector is written out
  /// in digits, as in text of another encoding.
  bool text_follows() {
    constexpr size_t kLooked = 4096;
    if (is_text(bytes_.peek(kLooked))) return true;
    const auto fields = fields_of(bytes_.peek_line());
    return fields.size() > width_ &&
           std::ranges::all_of(fields.end() - static_cast<std::ptrdiff_t>(width_), fields.end(),
                               [](auto field) { return parse_number<float>(field).has_value(); });
  }
  void read_text(std::optional<std::string> line, int64_t at, std::optional<int64_t> words) {
    int64_t found = 0;
    for (; line; line = bytes_.until('\n'), ++at) {
      if (fields_of(*line).empty()) continue;
      if (words && found == *words) fail_for_more(*words);
      add_line(*line, at);
      ++found;
    }
    if (words && found < *words)
      fail("line 1", fmt::format("promises {} words, and {} follow", *words, found));
  }
  void add_line(const std::string& line, int64_t at) {
    const auto fields = fields_of(line);
    if (at == 1) check_width(fields.size() - 1);
    const auto place = fmt::format("line {}", at);
    if (fields.size() <= width_)
      fail(place,
           fmt::format("has {} fields; a word and {} numbers belong there", fields.size(), width_));
    // A word may hold spaces itself, so the numbers are counted from the end.
    const auto* numbers = &fields[fields.size() - width_];
    const std::string word(fields[0].data(), numbers[-1].data() + numbers[-1].size());
    if (!wanted_.contains(word)) return;
    std::vector<float> vector;
    for (size_t i = 0; i < width_; ++i) {
      const auto value = parse_number<float>(numbers[i]);
      if (!value) fail(place, fmt::format("'{}' is no number", numbers[i]));
      vector.push_back(*value);
    }
    add(word, std::move(vector), place);
  }
  void read_binary(int64_t words) {
    for (int64_t i = 1; i <= words; ++i) {
      const auto place = fmt::format("word {} of {}", i, words);
      auto word = bytes_.until(' ');
      if (!word) fail(place, "the file ends before it");
      word->erase(0, word->find_first_not_of("\r\n"));
      const auto raw = bytes_.take(width_ * sizeof(float));
      if (raw.size() < width_ * sizeof(float)) fail(place, "the file ends within it");
      if (!wanted_.contains(*word)) continue;
      std::vector<float> vector(width_);
      std::memcpy(vector.data(), raw.data(), raw.size());
      add(*word, std::move(vector), place);
    }
    if (bytes_.peek(2).find_first_not_of("\r\n") != std::string_view::npos) fail_for_more(words);
  }
  void add(const std::string& word, std::vector<float> vector, const std::string& place) {
    if (!std::ranges::all_of(vector, [](float x) { return std::isfinite(x); }))
      fail(place, fmt::format("the vector of '{}' is not finite", word));
    vectors_.emplace(word, std::move(vector));
  }

  std::filesystem::path file_;
  Bytes bytes_;
  const std::unordered_set<std::string>& wanted_;
  size_t width_;
  WordVectors vectors_;
};

}  // namespace

WordVectors read_word_vectors(const std::filesystem::path& file,
                              const std::unordered_set<std::string>& wanted, int64_t width) {
  return Reader(file, wanted, width).read();
}

}  // namespace ablate::data
