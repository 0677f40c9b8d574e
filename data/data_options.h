#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ablate::data {

/// What happens to a line that cannot be used (empty side, invalid UTF-8, over-long).
enum class BadLine { error, skip };

constexpr auto names(BadLine) {
  return std::to_array<std::pair<BadLine, std::string_view>>(
      {{BadLine::error, "error"}, {BadLine::skip, "skip"}});
}

/// Sizes every generated task shares.
struct Sizes {
  int64_t train = 20'000;
  int64_t validation = 500;
  int64_t test = 500;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("train", o.train, "training examples");
    visit("validation", o.validation, "validation examples");
    visit("test", o.test, "test examples per length");
  }
  template <class Require>
  static void rules(const Sizes& o, Require&& require) {
    require(o.train > 0, "train", "must be positive");
    require(o.validation > 0, "validation", "must be positive");
    require(o.test > 0, "test", "must be positive");
  }
};

/// One test set is made for each size, so a size may be named once.
inline bool all_different(std::vector<int64_t> sizes) {
  std::ranges::sort(sizes);
  return std::ranges::adjacent_find(sizes) == sizes.end();
}

/// Shared members of the tasks over strings of symbols (copy, reverse, sort).
struct SymbolTask {
  static constexpr std::string_view discriminator = "task";
  int64_t symbols = 16;
  std::array<int64_t, 2> train_length = {1, 12};
  std::vector<int64_t> test_length = {12};
  Sizes examples;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("symbols", o.symbols, "number of different symbols");
    visit("train_length", o.train_length, "shortest and longest training source, in symbols");
    visit("test_length", o.test_length, "one test set for each source length, in symbols");
    visit("examples", o.examples, "how many examples are generated");
  }
  template <class Require>
  static void rules(const SymbolTask& o, Require&& require) {
    require(o.symbols >= 2 && o.symbols <= 1000, "symbols", "must be from 2 to 1000");
    require(o.train_length[0] >= 1 && o.train_length[0] <= o.train_length[1] &&
                o.train_length[1] <= 1000,
            "train_length", "must be [shortest, longest] with 1 <= shortest <= longest <= 1000");
    require(!o.test_length.empty() &&
                std::ranges::all_of(o.test_length,
                                    [](int64_t length) { return length >= 1 && length <= 1000; }),
            "test_length", "must list lengths from 1 to 1000");
    require(all_different(o.test_length), "test_length", "must list each length once");
  }
};

struct Copy : SymbolTask {
  static constexpr std::string_view name = "copy";
};
struct Reverse : SymbolTask {
  static constexpr std::string_view name = "reverse";
};
struct Sort : SymbolTask {
  static constexpr std::string_view name = "sort";
};

/// Shared members of the tasks whose length is a number of decimal digits (1 to 15).
struct DigitTask {
  static constexpr std::string_view discriminator = "task";
  int64_t train_digits = 4;
  std::vector<int64_t> test_digits = {4};
  Sizes examples{.train = 8'000, .validation = 300, .test = 300};

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("train_digits", o.train_digits, "most digits of a training number");
    visit("test_digits", o.test_digits, "one test set for each number of digits");
    visit("examples", o.examples, "how many examples are generated");
  }
  template <class Require>
  static void rules(const DigitTask& o, Require&& require) {
    require(o.train_digits >= 1 && o.train_digits <= 15, "train_digits", "must be from 1 to 15");
    require(!o.test_digits.empty() &&
                std::ranges::all_of(o.test_digits,
                                    [](int64_t digits) { return digits >= 1 && digits <= 15; }),
            "test_digits", "must list digits from 1 to 15");
    require(all_different(o.test_digits), "test_digits", "must list each count of digits once");
  }
};

/// "12 + 345" -> "357", digit by digit; `reversed` writes the sum from its last digit.
struct Addition : DigitTask {
  static constexpr std::string_view name = "addition";
  bool reversed = false;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    DigitTask::fields(o, visit);
    visit("reversed", o.reversed, "write the sum from its last digit");
  }
};

/// Numbers spelled out in two languages by ICU's rules (RBNF).
struct Numbers : DigitTask {
  static constexpr std::string_view name = "numbers";
  std::string source = "en";
  std::string target = "de";

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("source", o.source, "ICU locale of the source side");
    visit("target", o.target, "ICU locale of the target side");
    DigitTask::fields(o, visit);
  }
};

/// Line-parallel text: `[source file, target file]` or one TSV file, plain or gzip. Relative paths
/// start at the folder of the study file.
struct Text {
  static constexpr std::string_view name = "text";
  static constexpr std::string_view discriminator = "task";
  std::vector<std::string> train;
  std::vector<std::string> validation;
  std::vector<std::string> test;
  BadLine bad_lines = BadLine::error;
  int64_t max_line_bytes = 65'536;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("train", o.train, "[source, target] or [tsv]");
    visit("validation", o.validation, "[source, target] or [tsv]");
    visit("test", o.test, "[source, target] or [tsv]");
    visit("bad_lines", o.bad_lines, "error: stop with file and line; skip: leave out and count");
    visit("max_line_bytes", o.max_line_bytes, "a longer line is a bad line");
  }
  template <class Require>
  static void rules(const Text& o, Require&& require) {
    const auto one_or_two = [](const auto& files) {
      return files.size() == 1 || files.size() == 2;
    };
    require(one_or_two(o.train), "train", "must be [source file, target file] or [tsv file]");
    require(one_or_two(o.validation), "validation",
            "must be [source file, target file] or [tsv file]");
    require(one_or_two(o.test), "test", "must be [source file, target file] or [tsv file]");
    require(o.max_line_bytes >= 16 && o.max_line_bytes <= 16'777'216, "max_line_bytes",
            "must be from 16 to 16777216");
  }
};

using DataOptions = std::variant<Copy, Reverse, Sort, Addition, Numbers, Text>;

}  // namespace ablate::data
