#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/playground_options.h"
#include "data/task_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::data {

/// Whether a model writes outputs for such test sets.
constexpr bool writes_outputs(Compared compared) {
  return compared == Compared::text || compared == Compared::label;
}

/// The treatment of a line that cannot be used (empty side, invalid UTF-8, over-long).
ABLATE_ENUM(BadLine, error, skip);

/// The longest line that a file may be allowed to have, in bytes.
inline constexpr auto kLineLimits = options::from(16, 16'777'216);

/// Files whose columns have names.
ABLATE_ENUM(TableFormat, jsonl, csv, tsv);

inline constexpr const char* kNeedsFormat =
    "has an effect only with data.format: jsonl, csv or tsv";

/// The columns of each kind of text. One that begins with a slash is a JSON pointer into objects.
struct PairColumns {
  std::string source = "source", target = "target";
  std::optional<std::string> second;  // of a source of two texts; no key but that of LabelColumns
  bool operator==(const PairColumns&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("source", o.source, "column of the source");
    visit("target", o.target, "column of the target");
  }
  static void rules(const PairColumns& o, auto&& require) {
    require(!o.source.empty(), "source", "must name a column");
    require(!o.target.empty(), "target", "must name a column");
  }
};
struct LabelColumns {
  std::string text = "text", label = "label";
  std::optional<std::string> text_pair;
  bool operator==(const LabelColumns&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("text", o.text, "column of the text");
    visit("label", o.label, "column of its class");
    visit(
        "text_pair", o.text_pair,
        "column of a second text, which is read behind the first and its end token; absent: none");
  }
  static void rules(const LabelColumns& o, auto&& require) {
    require(!o.text.empty(), "text", "must name a column");
    require(!o.label.empty(), "label", "must name a column");
    require(o.text_pair != "", "text_pair", "must name a column");
  }
};
struct TextColumns {
  std::string text = "text";
  bool operator==(const TextColumns&) const = default;
  static void fields(auto& o, auto&& visit) { visit("text", o.text, "column of the text"); }
  static void rules(const TextColumns& o, auto&& require) {
    require(!o.text.empty(), "text", "must name a column");
  }
};

/// Training pairs that are left out.
struct Filter {
  bool duplicates = false;
  std::optional<double> length_ratio;

  static void fields(auto& o, auto&& visit) {
    visit("duplicates", o.duplicates, "leave out training pairs that have come before");
    visit("length_ratio", o.length_ratio,
          "leave out training pairs of which one side has more than this times the other's "
          "characters; absent: none",
          options::at_least(1));
  }
};

/// `[source file, target file]` or one file, plain or gzip. Relative paths start at the folder of
/// the study file.
struct Text : TaskTraits {
  static constexpr std::string_view name = "text";
  static constexpr std::string_view about = "line-parallel text of two files or of one TSV file";
  std::vector<std::string> train;
  std::vector<std::string> validation;
  std::vector<std::string> test;
  std::optional<TableFormat> format;
  PairColumns columns;
  Filter filter;
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
    visit("train", o.train, "training files: [source, target] or [one file]");
    visit("validation", o.validation, "validation files: [source, target] or [one file]");
    visit("test", o.test, "test files: [source, target] or [one file]");
    visit("format", o.format,
          "jsonl, csv or tsv: one file with named columns; absent: two files of lines, or one TSV "
          "file without names");
    visit("columns", o.columns, "the columns of such a file");
    visit("filter", o.filter, "training pairs that are left out");
    visit("train_pairs", o.train_pairs,
          "train on this many usable pairs from the start of the files; absent: on all",
          options::at_least(1));
    visit("bad_lines", o.bad_lines, "error: stop with file and line; skip: leave out and count");
    visit("max_line_bytes", o.max_line_bytes, "a longer line is a bad line", kLineLimits);
  }
  static void rules(const Text& o, auto&& require) {
    const auto check_files = [&](const auto& files, const char* key) {
      require(files.size() == 1 || (files.size() == 2 && !o.format), key,
              "must be [source file, target file], or [one file] of both");
    };
    check_files(o.train, "train");
    check_files(o.validation, "validation");
    check_files(o.test, "test");
    require(o.format || o.columns == PairColumns(), "columns", kNeedsFormat);
  }
};

/// A text, a tab and the name of its class (without spaces) in every line.
struct Labelled : TaskTraits {
  static constexpr std::string_view name = "labelled";
  static constexpr std::string_view about = "texts and their classes, from TSV files";
  static constexpr auto compared = Compared::label;
  std::string train, validation, test;
  std::optional<TableFormat> format;
  LabelColumns columns;
  Filter filter;
  BadLine bad_lines = BadLine::error;
  int64_t max_line_bytes = 65'536;

  static void fields(auto& o, auto&& visit) {
    visit("train", o.train, "training file of texts and classes");
    visit("validation", o.validation, "validation file of texts and classes");
    visit("test", o.test, "test file of texts and classes");
    visit("format", o.format,
          "jsonl, csv or tsv: a file with named columns; absent: TSV without names: text, class");
    visit("columns", o.columns, "the columns of such a file");
    visit("filter", o.filter, "training pairs that are left out");
    visit("bad_lines", o.bad_lines, "error: stop with file and line; skip: leave out and count");
    visit("max_line_bytes", o.max_line_bytes, "a longer line is a bad line", kLineLimits);
  }
  static void rules(const Labelled& o, auto&& require) {
    require(!o.train.empty(), "train", "must name a file");
    require(!o.validation.empty(), "validation", "must name a file");
    require(!o.test.empty(), "test", "must name a file");
    require(o.format || o.columns == LabelColumns(), "columns", kNeedsFormat);
    require(!o.filter.length_ratio, "filter.length_ratio",
            "is for data.task text: a class is short");
  }
};

/// Plain or gzip. Lines are joined by the end token and cut into blocks.
struct Language : TaskTraits {
  static constexpr std::string_view name = "language";
  static constexpr std::string_view about = "running text for language models";
  static constexpr auto compared = Compared::nothing;
  static constexpr bool running = true;
  bool tests_on_validation() const { return !test && test_held_out == 0; }
  static constexpr const char* test_name = "test";
  std::string train;
  std::optional<std::string> validation, test;
  std::optional<TableFormat> format;
  TextColumns columns;
  double held_out = 0.1;
  double test_held_out = 0.0;
  double masked = 0.15;
  bool diffusion = false;
  int64_t block = 64;
  int64_t max_line_bytes = 65'536;

  static void fields(auto& o, auto&& visit) {
    visit("train", o.train, "file of running text");
    visit("validation", o.validation, "file of running text; absent: held out of `train`");
    visit("test", o.test, "file of running text; absent: see test_held_out");
    visit("format", o.format,
          "jsonl, csv or tsv: files with named columns, whose texts are read line by line; absent: "
          "plain text");
    visit("columns", o.columns, "the column of such a file");
    visit("held_out", o.held_out, "share at the end of the training text for validation",
          options::between(0, 1));
    visit("test_held_out", o.test_held_out,
          "share of the training text before held_out for testing; 0 without `test`: the "
          "validation text is also the test text, and no choice may depend on it");
    visit("masked", o.masked, "share of the tokens that an encoder_only model has to predict",
          options::between(0, 1));
    visit("diffusion", o.diffusion,
          "masked diffusion, in place of masked: hide k tokens of each block, with k drawn by a "
          "probability in inverse proportion to it, so that the mean loss of a hidden token is an "
          "upper bound of the text's");
    visit("block", o.block,
          "predicted tokens per block; every epoch cuts the text at other places; only one token "
          "before a block is read, so perplexities are those of short contexts, and the text's "
          "first token is never predicted",
          options::from(2, 65'536));
    visit("max_line_bytes", o.max_line_bytes, "a longer line is an error", kLineLimits);
  }
  static void rules(const Language& o, auto&& require) {
    require(!o.train.empty(), "train", "must name a file");
    require(o.format || o.columns == TextColumns(), "columns", kNeedsFormat);
    require(o.test_held_out >= 0 && o.held_out + o.test_held_out < 1, "test_held_out",
            "must not be negative, and must leave training text besides held_out");
    require(o.test_held_out == 0 || !o.test, "test_held_out", "and test exclude each other");
  }
};

/// The type of the ids in a file of tokens.
ABLATE_ENUM(TokenType, uint16, uint32);

/// Raw ids, or behind the header of llm.c (data/token_file.h).
struct Tokens : TaskTraits {
  static constexpr std::string_view name = "tokens";
  static constexpr std::string_view about =
      "running text as ids that another program, or ablate data tokens, has written";
  static constexpr auto compared = Compared::tokens;
  static constexpr bool running = true;
  bool tests_on_validation() const { return !test; }
  static constexpr const char* test_name = "test";
  std::string train, validation;
  std::optional<std::string> test;
  std::optional<TokenType> dtype;
  std::optional<int64_t> vocabulary;
  std::optional<int64_t> end_token;
  bool mask_documents = false;
  int64_t block = 64;
  std::optional<int64_t> evaluated_tokens;

  static void fields(auto& o, auto&& visit) {
    visit("train", o.train, "file of tokens; it stays on the disk, whatever its size");
    visit("validation", o.validation, "file of tokens");
    visit("test", o.test,
          "file of tokens; absent: the validation file also tests, and no choice may depend on it");
    visit("dtype", o.dtype,
          "uint16 or uint32; absent: as the file's header says, and uint16 without a header");
    visit("vocabulary", o.vocabulary,
          "number of different ids, if no tokenizer is named: the model then reads and writes "
          "numbers for text, and has four more tokens",
          options::from(2, 1'000'000));
    visit("end_token", o.end_token,
          "id that divides documents, below `vocabulary`; absent: none, or the tokenizer's");
    visit("mask_documents", o.mask_documents,
          "attention does not look behind the end token before a document, and outputs end with "
          "one");
    visit("block", o.block, "predicted tokens per block, as in the task language",
          options::from(2, 65'536));
    visit("evaluated_tokens", o.evaluated_tokens,
          "score only this many tokens at the start of validation and test; absent: all",
          options::at_least(2));
  }
  static void rules(const Tokens& o, auto&& require) {
    require(!o.train.empty(), "train", "must name a file");
    require(!o.validation.empty(), "validation", "must name a file");
    require(!o.end_token || (o.vocabulary && *o.end_token >= 0 && *o.end_token < *o.vocabulary),
            "end_token", "must be one of the ids below data.vocabulary; a tokenizer has its own");
    require(!o.mask_documents || !o.vocabulary || o.end_token, "mask_documents",
            "needs data.end_token, which divides the documents");
  }
};

using DataOptions = std::variant<Copy, Reverse, Sort, Duplicate, SelectiveCopy, Parity,
                                 ModularArithmetic, Dyck, Recall, Depo, Brevo, Capo, Mano, Lano,
                                 Facts, Table, Addition, Numbers, Text, Labelled, Language, Tokens>;

/// How to test on other text than that which validates.
inline constexpr const char* kOwnTest =
    "name another file in data.test or, for running text, give data.test_held_out a share";

constexpr bool is_running(const DataOptions& data) {
  return std::visit([]<class Held>(const Held&) { return Held::running; }, data);
}

/// Predicted tokens of a row of running text; nullopt for pairs.
constexpr std::optional<int64_t> block_of(const DataOptions& data) {
  return std::visit(
      [](const auto& task) -> std::optional<int64_t> {
        if constexpr (requires { task.block; })
          return task.block;
        else
          return std::nullopt;
      },
      data);
}

/// Whether a source is two texts.
constexpr bool reads_pairs(const DataOptions& data) {
  const auto* labelled = std::get_if<Labelled>(&data);
  return labelled != nullptr && labelled->columns.text_pair.has_value();
}

constexpr bool knows_probabilities(const DataOptions& data) {
  return std::visit([]<class Held>(const Held&) { return Held::knows_probabilities; }, data);
}

constexpr Compared compared_of(const DataOptions& data) {
  return std::visit([]<class Held>(const Held&) { return Held::compared; }, data);
}

/// Whether the test set is the validation set because no other one is named, so that choices by
/// validation bias test scores. Of named files only the content tells (data/shared_text.h).
inline bool tests_on_validation(const DataOptions& data) {
  return std::visit([](const auto& held) { return held.tests_on_validation(); }, data);
}

}  // namespace ablate::data
