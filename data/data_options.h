#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "data/task_options.h"

namespace ablate::data {

/// How outputs of a test set are scored: as text, as a label, not at all.
enum class Compared { text, label, nothing };

/// The treatment of a line that cannot be used (empty side, invalid UTF-8, over-long).
enum class BadLine { error, skip };

constexpr auto names(BadLine) {
  return std::to_array<std::pair<BadLine, std::string_view>>(
      {{BadLine::error, "error"}, {BadLine::skip, "skip"}});
}

void require_line_limit(int64_t bytes, auto&& require) {
  require(bytes >= 16 && bytes <= 16'777'216, "max_line_bytes", "must be from 16 to 16777216");
}

/// Line-parallel text: `[source file, target file]` or one TSV file, plain or gzip. Relative paths
/// start at the folder of the study file.
struct Text {
  static constexpr std::string_view name = "text";
  static constexpr std::string_view discriminator = "task";
  std::vector<std::string> train;
  std::vector<std::string> validation;
  std::vector<std::string> test;
  std::optional<int64_t> train_pairs;
  BadLine bad_lines = BadLine::error;
  int64_t max_line_bytes = 65'536;

  /// "test_2016_flickr" of "multi30k/test_2016_flickr.en.gz".
  static std::string test_name(std::string_view file) {
    file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
    if (file.ends_with(".gz")) file.remove_suffix(3);
    return std::string(file.substr(0, file.rfind('.')));
  }
  static void fields(auto& o, auto&& visit) {
    visit("train", o.train, "training files: [source, target] or [tsv]");
    visit("validation", o.validation, "validation files: [source, target] or [tsv]");
    visit("test", o.test, "test files: [source, target] or [tsv]");
    visit("train_pairs", o.train_pairs,
          "train on this many usable pairs from the start of the files; absent: on all");
    visit("bad_lines", o.bad_lines, "error: stop with file and line; skip: leave out and count");
    visit("max_line_bytes", o.max_line_bytes, "a longer line is a bad line");
  }
  static void rules(const Text& o, auto&& require) {
    const auto one_or_two = [](const auto& files) {
      return files.size() == 1 || files.size() == 2;
    };
    require(one_or_two(o.train), "train", "must be [source file, target file] or [tsv file]");
    require(one_or_two(o.validation), "validation",
            "must be [source file, target file] or [tsv file]");
    require(one_or_two(o.test), "test", "must be [source file, target file] or [tsv file]");
    require(o.train_pairs.value_or(1) >= 1, "train_pairs", "must be at least 1");
    require_line_limit(o.max_line_bytes, require);
  }
};

/// Texts and their classes: TSV files, a text, a tab and the name of its class (without spaces) in
/// every line.
struct Labelled {
  static constexpr std::string_view name = "labelled";
  static constexpr std::string_view discriminator = "task";
  std::string train, validation, test;
  BadLine bad_lines = BadLine::error;
  int64_t max_line_bytes = 65'536;

  static void fields(auto& o, auto&& visit) {
    visit("train", o.train, "training file, TSV: text, class");
    visit("validation", o.validation, "validation file, TSV: text, class");
    visit("test", o.test, "test file, TSV: text, class");
    visit("bad_lines", o.bad_lines, "error: stop with file and line; skip: leave out and count");
    visit("max_line_bytes", o.max_line_bytes, "a longer line is a bad line");
  }
  static void rules(const Labelled& o, auto&& require) {
    require(!o.train.empty(), "train", "must name a file");
    require(!o.validation.empty(), "validation", "must name a file");
    require(!o.test.empty(), "test", "must name a file");
    require_line_limit(o.max_line_bytes, require);
  }
};

/// Running text for language models, plain or gzip. Lines are joined by the end token and cut into
/// blocks.
struct Language {
  static constexpr std::string_view name = "language";
  static constexpr std::string_view discriminator = "task";
  static constexpr const char* test_name = "test";
  std::string train;
  std::optional<std::string> validation, test;
  double held_out = 0.1;
  double test_held_out = 0.0;
  double masked = 0.15;
  int64_t block = 64;
  int64_t max_line_bytes = 65'536;

  static void fields(auto& o, auto&& visit) {
    visit("train", o.train, "file of running text");
    visit("validation", o.validation, "file of running text; absent: held out of `train`");
    visit("test", o.test, "file of running text; absent: see test_held_out");
    visit("held_out", o.held_out, "share at the end of the training text for validation");
    visit("test_held_out", o.test_held_out,
          "share of the training text before held_out for testing; 0 without `test`: the "
          "validation text is also the test text, and no choice may depend on it");
    visit("masked", o.masked, "share of the tokens that an encoder_only model has to predict");
    visit("block", o.block,
          "predicted tokens per block; every epoch cuts the text at other places; only one token "
          "before a block is read, so perplexities are those of short contexts, and the text's "
          "first token is never predicted");
    visit("max_line_bytes", o.max_line_bytes, "a longer line is an error");
  }
  static void rules(const Language& o, auto&& require) {
    require(!o.train.empty(), "train", "must name a file");
    require(o.held_out > 0 && o.held_out < 1, "held_out", "must be between 0 and 1");
    require(o.test_held_out >= 0 && o.held_out + o.test_held_out < 1, "test_held_out",
            "must not be negative, and must leave training text besides held_out");
    require(o.test_held_out == 0 || !o.test, "test_held_out", "and test exclude each other");
    require(o.masked > 0 && o.masked < 1, "masked", "must be between 0 and 1");
    require(o.block >= 2 && o.block <= 65'536, "block", "must be from 2 to 65536");
    require_line_limit(o.max_line_bytes, require);
  }
};

using DataOptions =
    std::variant<Copy, Reverse, Sort, Duplicate, SelectiveCopy, Parity, ModularArithmetic, Dyck,
                 Recall, Facts, Table, Addition, Numbers, Text, Labelled, Language>;

/// How to test on other text than that which validates.
inline constexpr const char* kOwnTest =
    "name another file in data.test or, for running text, give data.test_held_out a share";

/// Whether the test set is the validation set, so that choices by validation bias test scores.
inline bool tests_on_validation(const DataOptions& data) {
  if (const auto* text = std::get_if<Language>(&data))
    return text->test ? text->test == text->validation : text->test_held_out == 0;
  if (const auto* text = std::get_if<Text>(&data))
    return !text->test.empty() && text->test == text->validation;
  if (const auto* text = std::get_if<Labelled>(&data))
    return !text->test.empty() && text->test == text->validation;
  return false;
}

}  // namespace ablate::data
