#include "experiments/config/yaml/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "experiments/config/yaml/value.h"
#include "tokenizer/text/unicode.h"

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
  std::ranges::sort(problems, {}, key);
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

/// Line separators and changes of the reading direction.
bool is_order_control(char32_t point) {
  return (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

bool is_printable(char32_t point, std::string_view character) {
  if (point == '\t' || point == '\n') return true;
  return !tokenizer::is_control(point) && !is_order_control(point) &&
         tokenizer::valid_utf8(character);
}

}  // namespace

std::string printable(std::string text) {
  std::string shown;
  tokenizer::for_each_character(text, [&](char32_t point, size_t begin, size_t end) {
    const auto character = std::string_view(text).substr(begin, end - begin);
    shown += is_printable(point, character) ? std::string(character)
                                            : std::string(character.size(), '?');
  });
  return shown;
}

std::string printable_line(std::string text) {
  text = printable(std::move(text));
  for (char& byte : text)
    if (byte == '\t' || byte == '\n') byte = '?';
  return text;
}

}  // namespace ablate::config
