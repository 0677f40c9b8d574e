#include "experiments/config/yaml/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

constexpr size_t kMostPrinted = 100;
constexpr size_t kWidestLine = 160;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

int characters_before(std::string_view line, int bytes) {
  const auto prefix = line.substr(0, static_cast<size_t>(bytes));
  return static_cast<int>(std::ranges::count_if(prefix, std::not_fn(continues_character)));
}

std::string caret_line(const Problem& problem) {
  std::string blanks;
  int characters = 0;
  for (const char byte : problem.text) {
    if (continues_character(byte)) continue;
    if (++characters >= problem.column) break;
    blanks += byte == '\t' ? '\t' : ' ';
  }
  return blanks + '^';
}

std::string render(const Problem& problem) {
  if (problem.line == 0) return fmt::format("{}: {}", problem.file, problem.message);
  auto head =
      fmt::format("{}:{}:{}: {}", problem.file, problem.line, problem.column, problem.message);
  if (problem.text.empty()) return head;
  return fmt::format("{}\n  {}\n  {}", head, problem.text, caret_line(problem));
}

/// Files before the command line, each from top to bottom, without duplicates.
std::vector<Problem> sorted(std::vector<Problem> problems) {
  const auto key = [](const Problem& problem) {
    return std::make_tuple(problem.file.starts_with("--"), std::cref(problem.file), problem.line,
                           problem.column, std::cref(problem.message));
  };
  std::ranges::sort(
      problems, [&](const Problem& left, const Problem& right) { return key(left) < key(right); });
  problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
  return problems;
}

std::string render(const std::vector<Problem>& problems) {
  std::string text;
  for (size_t i = 0; i < std::min(problems.size(), kMostPrinted); ++i)
    text += fmt::format("{}{}", i ? "\n" : "", render(problems[i]));
  if (problems.size() > kMostPrinted)
    text += fmt::format("\nand {} more problems", problems.size() - kMostPrinted);
  return text;
}

}  // namespace

ConfigError::ConfigError(std::vector<Problem> all)
    : std::runtime_error(render(sorted(all))), problems(sorted(std::move(all))) {}

Problem problem_at(const Mark& mark, std::string message) {
  if (!mark.source) return {.message = printable(std::move(message))};
  const auto& lines = mark.source->lines;
  size_t index = std::min(static_cast<size_t>(mark.line), lines.size() - 1);
  // The parser places an early end of the document behind its last line.
  const bool behind = index + 1 == lines.size() && lines[index].empty();
  while (behind && index > 0 && lines[index].empty()) --index;
  const std::string& line = lines[index];
  const int end = static_cast<int>(line.size());
  const int bytes = behind ? end : std::min(mark.column, end);
  return {.file = mark.source->name,
          .line = static_cast<int>(index) + 1,
          .column = characters_before(line, bytes) + 1,
          .message = printable(std::move(message)),
          .text = line.size() > kWidestLine ? std::string() : printable(line)};
}

void ProblemList::add(const Mark& mark, std::string message) {
  problems_.push_back(problem_at(mark, std::move(message)));
}

void ProblemList::raise() const {
  if (!problems_.empty()) throw ConfigError(problems_);
}

namespace {

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; }

/// U+0080 to U+009F: control characters of some terminals.
bool is_long_control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xC2' &&
         static_cast<unsigned char>(character[1]) < 0xA0;
}

/// U+2028 to U+202E and U+2066 to U+2069: line separators and changes of the reading direction.
bool is_order_control(std::string_view character) {
  if (character.size() != 3) return false;
  const auto begin = character.substr(0, 2);
  const auto last = static_cast<unsigned char>(character[2]);
  return (begin == "\xE2\x80" && last >= 0xA8 && last <= 0xAE) ||
         (begin == "\xE2\x81" && last >= 0xA6 && last <= 0xA9);
}

}  // namespace

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || length > text.size() || lead > 0xF4) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool outside = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  return overlong || outside ? 0 : length;
}

std::string printable(std::string text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(std::string_view(text).substr(i));
    const auto character = std::string_view(text).substr(i, length);
    const bool blank = text[i] == '\t' || text[i] == '\n';
    const bool kept = blank || (length > 0 && !is_control(text[i]) && !is_long_control(character) &&
                                !is_order_control(character));
    if (!kept) text[i] = '?';
    i += kept ? length : 1;
  }
  return text;
}

std::string printable_line(std::string text) {
  text = printable(std::move(text));
  for (char& byte : text)
    if (is_control(byte)) byte = '?';
  return text;
}

}  // namespace ablate::config
